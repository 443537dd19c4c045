DROP FUNCTION links__reserve(int, bigint);
DROP TRIGGER links__reserved__instead_of_insert__trigger ON links;
DROP FUNCTION links__reserved__instead_of_insert__function();
DROP TABLE public."reserved";
