"""Groups of things of one kind, of which one is put for another: countries, languages, products, sports, attributes.

Data, and the lexicons over it. Each line is a group "name: member, member ...". Invariant: no two members of a group
are names of the same thing, and none is so often another word that the exchange would be no exchange of things.
"""

from __future__ import annotations

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, alternatives

_ENTITIES = """
country: France, Germany, Spain, Italy, Japan, China, India, Russia, Brazil, Canada, Australia, Mexico, Pakistan, \
Sweden, Norway, Denmark, Finland, Poland, Portugal, Greece, Ireland, Egypt, Morocco, Nigeria, Kenya, Argentina, \
Chile, Peru, Colombia, Vietnam, Thailand, Indonesia, Malaysia, Austria, Switzerland, Belgium, Hungary, Romania, \
Iceland, South Africa, New Zealand, South Korea, Israel, Iran, Iraq, Cuba, Ukraine, Croatia, Nepal, Ghana, \
Ethiopia, Singapore, the Netherlands, Scotland, Wales, England
city: Paris, London, Berlin, Madrid, Rome, Vienna, Prague, Lisbon, Dublin, Amsterdam, Brussels, Moscow, Istanbul, \
Athens, Cairo, Tokyo, Beijing, Shanghai, Seoul, Bangkok, Delhi, Mumbai, Sydney, Melbourne, Toronto, Vancouver, \
Montreal, Chicago, Boston, Seattle, Denver, Dallas, Houston, Miami, Atlanta, Philadelphia, Detroit, Los Angeles, \
San Francisco, San Diego, Las Vegas, Portland, Manchester, Leeds, Bristol, Edinburgh, Glasgow, Liverpool, Munich, \
Hamburg, Barcelona, Milan, Zurich, Oslo, Stockholm, Copenhagen, Lagos, Nairobi, New York, Pittsburgh, Orlando, \
Phoenix, Nashville
state: California, Texas, Florida, Ohio, Michigan, Virginia, Arizona, Colorado, Oregon, Nevada, Hawaii, Alaska, \
Utah, Illinois, Pennsylvania, Massachusetts, Minnesota, Wisconsin, Tennessee, Louisiana
continent: Europe, Asia, Africa, South America, North America
nationality: French, German, Spanish, Italian, Japanese, Chinese, Indian, Russian, Brazilian, Canadian, \
Australian, Mexican, Swedish, Norwegian, Portuguese, Greek, Irish, Egyptian, Thai, Korean, Vietnamese, Dutch, \
Danish, Finnish, Turkish
language: Arabic, Hindi, Swahili, Hebrew, Latin, Urdu, Bengali
programming: Python, JavaScript, TypeScript, Java, Kotlin, Rust, Ruby, PHP, Perl, Scala, Haskell, C++, C#, golang, \
Swift, Matlab
library: numpy, pandas, pytorch, tensorflow, matplotlib, scipy, sklearn, requests
framework: django, flask, fastapi, react, angular, vue, laravel, rails
database: MySQL, PostgreSQL, SQLite, MongoDB, Redis, Oracle, Cassandra, DynamoDB
system: Linux, macOS, Android, iOS, Ubuntu, Windows 10
phone: iPhone, Pixel, Galaxy, iPad
browser: Chrome, Firefox, Safari, Internet Explorer
cloud: AWS, Azure, GCP, Heroku
service: Facebook, Instagram, Twitter, WhatsApp, TikTok, YouTube, LinkedIn, Snapchat, Reddit, Pinterest, Telegram
stream: Netflix, Spotify, Hulu, Disney Plus
shop: Amazon, eBay, Walmart, Costco, Ikea, Tesco
company: Microsoft, IBM, Intel, Nvidia, Tesla, Toyota, Honda, BMW, Mercedes, Audi, Volkswagen, Ford Motors, \
Samsung, Sony, Nokia, Google, Nike, Adidas
payment: PayPal, Apple Pay, Google Pay, Visa, Mastercard, American Express, bitcoin
bank: Chase, Barclays, HSBC, Santander, Wells Fargo, Citibank
courier: FedEx, DHL, USPS, Royal Mail
airline: Lufthansa, Ryanair, Emirates, Delta Airlines, British Airways, United Airlines, Qatar Airways
currency: dollars, euros, yen, rupees, pesos, francs, yuan
currencycode: USD, EUR, GBP, JPY, CHF, AUD, CAD, INR
drug: ibuprofen, paracetamol, aspirin, amoxicillin, metformin, insulin, omeprazole, lisinopril, warfarin, \
prednisone, gabapentin, sertraline
illness: diabetes, asthma, pneumonia, influenza, malaria, dengue, cholera, hepatitis, leukemia, migraine, \
epilepsy, arthritis, tuberculosis, measles, psoriasis, osteoporosis, anemia, lupus, glaucoma, lymphoma, melanoma
organ: liver, kidney, heart, lung, stomach, brain, pancreas, bladder, thyroid, prostate, breast, colon, skin
element: hydrogen, helium, carbon, nitrogen, oxygen, sodium, potassium, calcium, copper, zinc, chlorine, uranium
planet: Mars, Venus, Jupiter, Saturn, Neptune, Uranus
religion: Hinduism, Buddhism, Islam, Christianity, Judaism, Sikhism, Taoism
animal: dog, cat, horse, rabbit, cow, pig, sheep, goat, elephant, lion, tiger, whale, dolphin, snake, parrot
animals: dogs, cats, horses, rabbits, cows, pigs, goats, elephants, lions, tigers, whales, bees, ants
food: pizza, pasta, rice, chicken, beef, pork, salmon, tofu, bread, lasagna, sushi, tacos, soup, steak, burgers, curry
fruit: banana, strawberry, lemon, pear, grape, mango, pineapple, peach
fruits: apples, oranges, bananas, strawberries, lemons, pears, grapes, mangoes
drink: coffee, beer, wine, lemonade, whisky, milk
sport: football, basketball, tennis, cricket, baseball, hockey, volleyball, golf, rugby, badminton
instrument: guitar, piano, violin, flute, trumpet, cello
colour: red, blue, green, yellow, purple, pink, brown, black, white
relative: wife, husband, mother, father, son, daughter, brother, sister, uncle, grandmother, boss, neighbour, roommate
mealtime: breakfast, lunch, dinner
season: spring, summer, autumn, winter
school: physics, chemistry, biology, geography, economics, psychology, philosophy, astronomy
shape: triangle, circle, rectangle, sphere, cube, cylinder, cone
compass: north, south, east, west
company role: CEO, CFO, CTO
vehicle: car, bus, bicycle, motorcycle, truck, boat
room: kitchen, bedroom, bathroom, garage, basement, living room
garment: shirt, shoes, jacket, trousers, dress, hat
device: laptop, tablet, printer, television, camera, headphones
language thing: noun, verb, adjective, adverb
war: World War I, World War II, the Vietnam War, the Korean War, the Cold War
structure: python list, python tuple, python dictionary, python string, python set
datatype: string, integer, float, boolean
statistic: the mean, the median, the mode, the variance, the standard deviation
president: Obama, Trump, Clinton, Lincoln, Washington's, Kennedy, Reagan, Biden
vitamin: vitamin A, vitamin B12, vitamin C, vitamin D, vitamin E, vitamin K
insurance: car insurance, home insurance, travel insurance, life insurance, health insurance, pet insurance
card: credit card, debit card, gift card, library card
bankaccount: savings account, checking account, current account, joint account
"""
_ASPECTS = """
medical: symptoms, causes, treatments, complications, stages, side effects, risk factors
medicalone: treatment, diagnosis, prevention, outlook
credential: password, username, PIN, email address, phone number, security question
contact: phone number, email address, postal address, opening hours
profile: first name, last name, date of birth, profile picture, home address
money: balance, credit limit, interest rate, transaction history, account number, routing number
price: price, warranty, delivery time
place: capital, population, climate, national anthem, official language, time zone
person: birthday, birthplace, nationality, net worth, height, age
document: passport, driving licence, visa, birth certificate, ID card
charges: fee, limit, discount, deadline
transaction: transfer, withdrawal, deposit, top-up, refund, direct debit, standing order, cash withdrawal
transactions: transfers, withdrawals, deposits, refunds, direct debits
reservation: hotel, flight, rental car, restaurant table, cruise
schedule: alarm, timer, reminder, meeting, appointment
lists: shopping list, to do list, todo list, playlist, wish list
listspart: subtraction, addition, multiplication, division
measure: length, width, height, depth, weight, volume, surface area
text part: title, abstract, introduction, conclusion
creative: poem, essay, story, speech, haiku, song
creative two: email, blog post, tweet, cover letter, press release
writing: summary, outline, translation, critique
math: sum of, product of, difference of, average of
parts: rows, columns, diagonals
aggregate: by value, by key, by index
textunit: each word, each character, each line, each sentence
ends: leading, trailing
order state: delivered, shipped, returned
nutrition: calories, protein, fat, sugar, sodium, fiber
cooking: ingredients, cooking time, serving size
car: tires, brakes, battery, windshield wipers
leave: sick leave, parental leave, vacation days
bills: electric bill, water bill, phone bill, rent, mortgage
credit: credit score, credit report, credit limit
news: reviewers, customers, sellers
repo: issue, pull request, branch, commit, merge request
repos: issues, pull requests, branches, commits, merge requests
product: orders, invoices, shipments, reviews, products
power: kinetic energy, potential energy, momentum, acceleration
rights: advantages, disadvantages
pros: pros, cons
"""
_ACTIONS = """
subscription: cancel, renew, upgrade, downgrade, pause
program: install, uninstall, update
reserve: book a, cancel a, reschedule a
file: upload, download, delete, rename
account: open my account, close my account, freeze my account
anaccount: open an account, close an account, freeze an account
card: activate my, block my, replace my, cancel my
cardthe: activate the, block the, replace the
list: sort the, reverse the, shuffle the, filter the
lista: sort a, reverse a, shuffle a, filter a
sortings: sorting, reversing, shuffling, filtering
text: summarize, translate, rewrite, proofread
textuk: summarise, translate, rewrite, proofread
item: buy, sell, rent, lease
itemed: bought, sold, rented
money: to deposit, to withdraw, to borrow, to invest
mine: change my, delete my, check my
thing: create a, delete a, copy a
read: read, write
readings: reading, writing
convert: compress, encrypt, back up
send: send, receive
plant: prune, water, fertilize
cook: bake, fry, grill, steam
cooks: baked, fried, grilled, steamed
charge: charged, refunded
decline: declined, approved
lost: lost, found
order: to order, to return
ordered: i ordered, i returned
track: track, cancel
"""


RULES = changing_rules(
    entity_gazetteer=Lexicon(alternatives(_ENTITIES), proper=True),
    attribute_other=Lexicon(alternatives(_ASPECTS), whole=("in addition to", "in addition")),
    action_other=Lexicon(alternatives(_ACTIONS)),
)
