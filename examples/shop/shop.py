"""Makes shop.sqlite, the database of docs/own_database.md: python3 shop.py. Nothing in it is real."""

import datetime
import os
import random
import sqlite3

FIRST, LAST = datetime.date(2024, 1, 1), datetime.date(2025, 10, 31)


def main():
    draw = random.Random(7)
    if os.path.exists("shop.sqlite"):
        os.remove("shop.sqlite")
    shop = sqlite3.connect("shop.sqlite")
    shop.executescript("""
        CREATE TABLE customers(id INTEGER PRIMARY KEY, joined TEXT, country TEXT);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), day TEXT, amount REAL);
        CREATE TABLE returns(id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), day TEXT);
    """)
    orders, returns = [], []
    for customer in range(1, 241):
        joined = FIRST + datetime.timedelta(days=draw.randrange(600))
        shop.execute("INSERT INTO customers VALUES (?, ?, ?)", (customer, str(joined), draw.choice(["de", "fr", "it"])))
        # Days between orders, and days until the customer is gone for good; who sends much back is gone sooner.
        gap, sends_back = draw.uniform(8, 60), draw.uniform(0, 0.5)
        gone = joined + datetime.timedelta(days=draw.expovariate(1 / (80 + 500 * (0.5 - sends_back))))
        day = joined
        while day <= min(gone, LAST):
            orders.append((customer, day, round(draw.lognormvariate(3.2, 0.6), 2)))
            day += datetime.timedelta(days=1 + int(draw.expovariate(1 / gap)))
        orders_of = [order for order in orders if order[0] == customer]
        for order in orders_of:
            back = order[1] + datetime.timedelta(days=draw.randrange(3, 15))
            if draw.random() < sends_back and back <= LAST:
                returns.append((order, back))
    orders.sort(key=lambda order: (order[1], order[0]))
    number = {id(order): at for at, order in enumerate(orders, 1)}
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", [(number[id(o)], o[0], str(o[1]), o[2]) for o in orders])
    returns.sort(key=lambda pair: (pair[1], number[id(pair[0])]))
    rows = [(at, number[id(order)], str(day)) for at, (order, day) in enumerate(returns, 1)]
    shop.executemany("INSERT INTO returns VALUES (?, ?, ?)", rows)
    shop.commit()
    shop.execute("VACUUM")
    shop.close()


main()
