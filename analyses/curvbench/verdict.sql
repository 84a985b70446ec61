-- Prints the table `figures` (figure, paper, digits, ours, note) with verdicts, ours with a digit more, and keeps them. A figure is equal if it
-- rounds to what is printed, half a unit of the last digit either way.

CREATE OR REPLACE TABLE judged AS
SELECT figure, paper, digits, ours,
       CASE WHEN ours IS NULL THEN 'no value'
            WHEN abs(ours - paper) <= 0.5 * power(10.0, -digits) + 1e-9 THEN 'equal' ELSE 'differs' END AS verdict,
       note
FROM figures;

-- \plot none
SELECT figure, paper, round(ours, CAST(digits AS INT) + 1) AS ours, verdict,
       CASE verdict WHEN 'differs' THEN note ELSE '' END AS why
FROM judged;

INSERT INTO verdicts SELECT :'analysis', figure, paper, ours, verdict FROM judged;
