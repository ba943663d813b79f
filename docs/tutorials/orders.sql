-- The statements behind orders.binlog and orders-off.binlog; each log was recorded from a MySQL 9.7.4 of its own.
-- binlog-lab servers start --name orders --option binlog_row_metadata=FULL
SET time_zone = '+00:00';
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id INT PRIMARY KEY, status ENUM('new', 'paid', 'sent'), details JSON);
INSERT INTO shop.orders VALUES
  (1, 'new', '{"customer": {"name": "Ada", "city": "London"}, "items": [{"sku": "A-1", "count": 2}, {"sku": "B-7", "count": 1}], "note": "please ring the bell twice", "total": 42.50}'),
  (2, 'new', '{"customer": {"name": "Grace", "city": "New York"}, "items": [{"sku": "C-3", "count": 5}], "note": "leave it with the neighbour", "total": 99.95}');
UPDATE shop.orders SET details = JSON_SET(details, '$.items[0].count', 3) WHERE id = 1;
UPDATE shop.orders SET status = 'paid', details = JSON_SET(details, '$.paid', CAST('2026-11-20' AS DATE)) WHERE id = 2;
UPDATE shop.orders SET details = JSON_REMOVE(details, '$.note');
UPDATE shop.orders SET details = JSON_OBJECT('archived', TRUE) WHERE id = 2;
