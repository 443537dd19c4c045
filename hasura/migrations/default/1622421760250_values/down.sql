DROP FUNCTION links__value__function(links);
DELETE FROM links__tables WHERE name IN ('strings', 'numbers', 'objects', 'bool_exp');
DROP TABLE public."bool_exp";
DROP TABLE public."objects";
DROP TABLE public."numbers";
DROP TABLE public."strings";
