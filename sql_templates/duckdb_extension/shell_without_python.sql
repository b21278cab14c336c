-- The functions that need Python, where none can be started: each is an error that tells why, by a macro of the stub.
-- Written by python -m tests.sql.shell_measures.

CREATE OR REPLACE MACRO qidsql.main.audit("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, max_size := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.keys("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, reveals := NULL, violates := NULL, all_classes := NULL, epsilon := NULL, delta := NULL, seed := NULL, sample_sizes := NULL, verify := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, all_ := NULL, minimal := NULL, algorithm := NULL, max_size := NULL, since := NULL, weights := NULL, entity := NULL, nulls := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.protect("table", policy_file := NULL, keep := NULL, entity := NULL, known_rows := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, k := NULL, by_ := NULL, suppress := NULL, levels := NULL, frontier := NULL, measure := NULL, weights := NULL, sql := NULL, keep_identifiers := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.protect_cells("table", policy_file := NULL, max_work := NULL, keep := NULL, entity := NULL, known_rows := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, k := NULL, against := NULL, method := NULL, weights := NULL, sql := NULL, sensitive := NULL, keep_identifiers := NULL, nulls := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.protect_columns("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, reveals := NULL, violates := NULL, all_classes := NULL, epsilon := NULL, delta := NULL, seed := NULL, sample_sizes := NULL, verify := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, exact := NULL, weights := NULL, view := NULL, role := NULL, entity := NULL, known_rows := NULL, nulls := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.protect_turns("table", policy_file := NULL, keep := NULL, entity := NULL, known_rows := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, k := NULL, turns := NULL, max_size := NULL, weights := NULL, sensitive := NULL, nulls := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.uniques("table", policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, k := NULL, max_size := NULL, scores := NULL, sampling_fraction := NULL, nulls := NULL, key := NULL, sensitive := NULL, limit_ := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.report("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, max_size := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.verdict("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, max_size := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.check("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, max_size := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.checks("checks", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, max_size := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.roles("table", k := NULL, rows_below_k := NULL, distinct_ := NULL, separation := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, keep_identifiers := NULL, roles := NULL, entity := NULL, known_rows := NULL, require := NULL, empty := NULL, nulls := NULL, weights := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.risk("table", policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, sensitive := NULL, k := NULL, sampling_fraction := NULL, population_size := NULL, weight := NULL, household := NULL, seed := NULL, entity := NULL, nulls := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.link("left", "right", policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, on_ := NULL, k := NULL, rows_below_k := NULL, identifiers := NULL, where_ := NULL, entity := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.risk_population("table", "population", policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, on_ := NULL, k := NULL, rows_below_k := NULL, identifiers := NULL, where_ := NULL, entity := NULL, counts := NULL, presence := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.impact("table", "protected", policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, weight := NULL, outcome := NULL, covariates := NULL, fill := NULL, k := NULL, mark := NULL, show_values := NULL, max_values := NULL, columns := NULL, exclude := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.graph(policy_file := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, identifiers := NULL, sensitive := NULL, outside := NULL, exclude := NULL, protect := NULL, algorithm := NULL, accept_names := NULL, containment := NULL, find_dependencies := NULL, max_paths := NULL, every_path := NULL, then_ := NULL, k := NULL, entity := NULL, trace := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.protected("table", policy_file := NULL, keep := NULL, entity := NULL, known_rows := NULL, max_statements := NULL, max_seconds := NULL, max_bytes := NULL, columns := NULL, exclude := NULL, identifiers := NULL, where_ := NULL, l := NULL, entropy_l := NULL, recursive_l := NULL, alpha := NULL, t := NULL, t_hierarchical := NULL, t_ordered := NULL, order_ := NULL, beta_likeness := NULL, enhanced_beta := NULL, delta_disclosure := NULL, sensitive := NULL, k := NULL, by_ := NULL, suppress := NULL, levels := NULL, measure := NULL, weights := NULL, keep_identifiers := NULL, against := NULL) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;

CREATE OR REPLACE MACRO qidsql.main.help(function := '') AS TABLE
SELECT found.name, found.description
FROM (VALUES
  ('', 'profile', 'The measures of a column set.'),
  ('profile', 'profile', 'FROM qidsql.profile(''table'', [''column'', ...], k := 5)'),
  ('', 'violations', 'The classes below k of a column set, with values.'),
  ('violations', 'violations', 'FROM qidsql.violations(''table'', [''column'', ...], k := 5)'),
  ('', 'columns', 'The measures of every single column.'),
  ('columns', 'columns', 'FROM qidsql.columns(''table'', k := 5)'),
  ('', 'anonymity', 'Whether each class of a column set has k rows, or k persons.'),
  ('anonymity', 'anonymity', 'FROM qidsql.anonymity(''table'', [''column'', ...], k := 5, entity := ''column'')'),
  ('', 'diversity', 'Whether each class has l different values of a sensitive column, by rows or'),
  ('', '', 'persons.'),
  ('diversity', 'diversity', 'FROM qidsql.diversity(''table'', [''column'', ...], ''sensitive'', l := 2, entity := ''column'')'),
  ('', 'closeness', 'Whether the values of each class are distributed as in the table.'),
  ('closeness', 'closeness', 'FROM qidsql.closeness(''table'', [''column'', ...], ''sensitive'', t := 0.2)'),
  ('', 'risks', 'The risk of the rows to be re-identified.'),
  ('risks', 'risks', 'FROM qidsql.risks(''table'', [''column'', ...], k := 5)'),
  ('', 'sizes', 'How many classes there are of each size, as bars.'),
  ('sizes', 'sizes', 'FROM qidsql.sizes(''table'', [''column'', ...])'),
  ('', 'matches', 'How many rows of another table fit each row, or how many persons: a link, or'),
  ('', '', 'k-map for a population.'),
  ('matches', 'matches', 'FROM qidsql.matches(''table'', ''people'', [''column'', ...], k := 5, entity := ''column'')'),
  ('', '', 'How to call one: FROM qidsql.help(''profile'')'),
  ('', '', system.main.concat('All others need Python; ', qidsql.main.why_no_python()))
) AS found (of, name, description)
WHERE found.of = function;

COMMENT ON MACRO TABLE qidsql.main.profile IS 'The measures of a column set. FROM qidsql.profile(''table'', [''column'', ...], k := 5)';
COMMENT ON MACRO TABLE qidsql.main.violations IS 'The classes below k of a column set, with values. FROM qidsql.violations(''table'', [''column'', ...], k := 5)';
COMMENT ON MACRO TABLE qidsql.main.columns IS 'The measures of every single column. FROM qidsql.columns(''table'', k := 5)';
COMMENT ON MACRO TABLE qidsql.main.anonymity IS 'Whether each class of a column set has k rows, or k persons. FROM qidsql.anonymity(''table'', [''column'', ...], k := 5, entity := ''column'')';
COMMENT ON MACRO TABLE qidsql.main.diversity IS 'Whether each class has l different values of a sensitive column, by rows or persons. FROM qidsql.diversity(''table'', [''column'', ...], ''sensitive'', l := 2, entity := ''column'')';
COMMENT ON MACRO TABLE qidsql.main.closeness IS 'Whether the values of each class are distributed as in the table. FROM qidsql.closeness(''table'', [''column'', ...], ''sensitive'', t := 0.2)';
COMMENT ON MACRO TABLE qidsql.main.risks IS 'The risk of the rows to be re-identified. FROM qidsql.risks(''table'', [''column'', ...], k := 5)';
COMMENT ON MACRO TABLE qidsql.main.sizes IS 'How many classes there are of each size, as bars. FROM qidsql.sizes(''table'', [''column'', ...])';
COMMENT ON MACRO TABLE qidsql.main.matches IS 'How many rows of another table fit each row, or how many persons: a link, or k-map for a population. FROM qidsql.matches(''table'', ''people'', [''column'', ...], k := 5, entity := ''column'')';
COMMENT ON MACRO TABLE qidsql.main.help IS 'The functions of qidsql, or the parameters of one. FROM qidsql.help(''audit'')';
