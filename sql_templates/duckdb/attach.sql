-- A database of our own in the private folder, beside the source that is opened read-only.
-- Parameters: :path, :catalog  its file and its name
ATTACH :path AS :catalog (READ_WRITE)
