DROP FUNCTION links__exec_bool_exp__function(links, bigint, json);
DROP FUNCTION bool_exp_execute(bigint, bigint, bigint);
DROP VIEW selectors;
