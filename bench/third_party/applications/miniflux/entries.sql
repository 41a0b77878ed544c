INSERT INTO feeds (user_id, category_id, title, feed_url, site_url, checked_at, next_check_at)
    SELECT 1, 1, 'Feed ' || n, 'http://feed' || n || '.example/rss', 'http://feed' || n || '.example/', now(), now() + interval '1 year'
    FROM generate_series(1, 5) AS n;
INSERT INTO entries (user_id, feed_id, hash, published_at, title, url, author, content, status, created_at, changed_at)
    SELECT 1, feeds.id, md5(feeds.id || '-' || n), now() - n * interval '1 hour', 'Entry ' || n, 'http://feed.example/' || feeds.id || '/' || n,
        'Ann', repeat('<p>Lamps shine.</p>', 20), 'unread', now(), now() FROM feeds, generate_series(1, 100) AS n;
