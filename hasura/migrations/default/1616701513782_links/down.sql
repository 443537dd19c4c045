DROP TABLE public."links__tables" CASCADE;
DROP TABLE public."links" CASCADE;  -- the extension stays: other tables may use it
