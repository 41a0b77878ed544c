<?php
// Installs the site, as its form does, and writes posts with comments.
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Shop', 'admin', 'admin@shop.example', true, '', 'admin');
for ($n = 1; $n <= 60; $n++) {
    $post = wp_insert_post([
        'post_title' => "Lamp number $n", 'post_status' => 'publish', 'post_author' => 1,
        'post_content' => str_repeat("<p>A lamp of number $n, which shines.</p>", 12),
        'post_category' => [wp_create_category('Kind ' . $n % 5)], 'tags_input' => ['tag' . $n % 7],
    ]);
    for ($c = 0; $c < 4; $c++) {
        wp_insert_comment(['comment_post_ID' => $post, 'comment_author' => "Visitor $c", 'comment_content' => "I like $n."]);
    }
}
