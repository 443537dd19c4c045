DROP TRIGGER mp__delete_link__trigger ON links;
DROP TRIGGER mp__insert_link__trigger ON links;
DROP FUNCTION mp__delete_link__function();
DROP FUNCTION mp__insert_link__function();
DROP FUNCTION mp__graft(bigint, text, bigint, bigint, text);
DROP FUNCTION mp__place(bigint, text, bigint, bigint, text);
DROP FUNCTION mp__groups(bigint, bigint);
DROP TABLE public."mp";
