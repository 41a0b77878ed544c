-- Sixty posts like the first one that comes with Ghost.
CREATE TEMPORARY TABLE more AS
    SELECT posts.*, seq FROM posts JOIN seq_1_to_60 WHERE posts.type = 'post' AND posts.status = 'published' AND posts.id = (SELECT MIN(id) FROM posts AS p WHERE p.type = 'post' AND p.status = 'published');
UPDATE more SET id = LPAD(HEX(seq), 24, 'a'), uuid = UUID(), slug = CONCAT('lamp-', seq), title = CONCAT('Lamp number ', seq),
    published_at = NOW() - INTERVAL seq HOUR, comment_id = LPAD(HEX(seq), 24, 'a');
SET FOREIGN_KEY_CHECKS = 0;
INSERT INTO posts_authors (id, post_id, author_id, sort_order)
    SELECT LPAD(HEX(seq), 24, 'b'), LPAD(HEX(seq), 24, 'a'), (SELECT author_id FROM posts_authors LIMIT 1), 0 FROM seq_1_to_60;
ALTER TABLE more DROP COLUMN seq;
SET FOREIGN_KEY_CHECKS = 0;
INSERT INTO posts SELECT * FROM more;
