-- Attaches a database of qidsql's own, in the private folder, next to the source that is opened read-only.
-- Parameters: :path, :catalog  its file and its name
ATTACH IF NOT EXISTS :path AS :catalog (READ_WRITE)
