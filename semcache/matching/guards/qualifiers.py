"""Qualifiers that narrow a question: which kind of customer, plan, place, age, device, and so on, with their spellings.

Data alone. Each line is one axis; `|` separates its values, `,` the spellings of a value; `_` stands for a space or a
hyphen. A spelling that stands on two values of one axis, as "owner" does, may mean either: `EITHER` has all of those.
Whose landlord it is, is a tenant. Invariant: no other spelling stands on two values of one axis.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_AXES = """
personal,private,individual,individuals,consumer,home_use|business,businesses,commercial,corporate,company,companies,trade,workplace,b2b|student,students,academic,university|charity,charities,nonprofit,non_profit
one_off,one_time|daily,per_day,a_day,every_day|weekly,per_week,a_week,every_week|fortnightly,every_two_weeks|monthly,per_month,a_month,every_month|quarterly|annual,annually,yearly,per_year,a_year,every_year,per_annum
domestic,domestically,national,nationally,inland,within_the_country,within_the_uk|international,internationally,overseas,abroad,foreign,worldwide,global,globally|local,locally
prepaid,pre_paid,pay_as_you_go,payg|postpaid,post_paid,pay_monthly,contract
child,children,kid,kids,junior,children's,kids',toddler,toddlers,my_child,our_child,new_child|adult,adults,grown_up,grown_ups|senior,seniors,pensioner,pensioners,elderly,oap,over_60s|baby,babies,infant,infants,newborn,newborns,my_child,our_child,new_child|teenager,teenagers,teen,teens,teenage
alpha|beta|nightly,canary|stable,production|preview,release_candidate|legacy,deprecated|lts,long_term_support
free,free_tier,free_plan|basic,lite,starter,essential,essentials,standard,regular|premium,pro,plus,deluxe,professional|enterprise|ultimate,platinum|gold|silver
new_customer,new_customers,new_members,new_users|existing_customer,existing_customers,existing_members,existing_users,current_customers
member,members|non_member,non_members|guest,guests,visitor,visitors
used,second_hand,secondhand,pre_owned,preowned|refurbished,reconditioned|new,brand_new
online,internet,website|in_store,in_stores,in_person,in_shop,in_the_shop,in_the_store,in_branch,face_to_face|by_phone,over_the_phone,by_telephone|by_post,by_mail|by_email|in_the_app,in_app,app
iphone,ios,ipad|android|windows,pc|mac,macos,macbook|linux,ubuntu|chromebook
desktop,laptop,computer|mobile,phone,smartphone|tablet|smart_tv,tv
chrome|firefox|safari|edge
men,men's,man,male,mens,boys,gents|women,women's,woman,female,womens,ladies,girls
england|scotland,scottish|wales,welsh|northern_ireland|ireland,irish
debit|credit|gift
current_account,checking|savings,isa|joint
gas|electric,electricity|water|dual_fuel
broadband,fibre|landline|mobile|tv,television
petrol,gasoline|diesel|electric|hybrid
landlord,landlords,owner,the_owner,the_landlord,i'm_a_landlord,i_am_a_landlord,as_a_landlord,my_landlord,our_landlord,my_tenant,our_tenant|tenant,tenants,renter,renters,my_landlord,our_landlord,my_tenant,our_tenant|homeowner,homeowners,owner,the_owner
my_landlord,our_landlord,the_landlord,the_owner,i_rent|i'm_a_landlord,i_am_a_landlord,as_a_landlord,i_rent_out,my_tenant,our_tenant,my_tenants,our_tenants
buyer,buyers|seller,sellers
employer,employers,my_employer,our_employer|employee,employees,staff,my_employer,our_employer|contractor,contractors,self_employed,freelance,freelancer,freelancers,sole_trader,sole_traders
my_employer,our_employer|my_employee,our_employee,my_employees,our_employees
weekday,weekdays|weekend,weekends|bank_holiday,bank_holidays,public_holiday,public_holidays
off_peak|peak
daytime|evening,evenings,night,nights|overnight,night,nights
provisional|full_licence,full_driving_licence
part_time|full_time
temporary,temp|permanent
economy|business_class|first_class|premium_economy
second_class|first_class
one_way,single_ticket|return_ticket,round_trip,return_flight
single_room,single_rooms,single_bed,single_beds|double_room,double_rooms,double_bed,double_beds|twin_room,twin_rooms,twin_beds|family_room,family_rooms|triple_room,triple_rooms
single,single_ticket|family
single|joint
student,students|senior,seniors,pensioner,pensioners,oap|veteran,veterans,military|nurse,nurses,nhs|teacher,teachers|apprentice,apprentices|carer,carers
comprehensive,fully_comp|third_party
home_insurance,house_insurance,contents|car_insurance,motor|travel_insurance|pet_insurance|life_insurance|health_insurance
small|medium|large|extra_large,xl
full_refund|partial_refund
hard_copy,paper,printed|digital,electronic,ebook,e_book
physical|virtual,e_gift
express,priority|standard_delivery,standard_shipping|next_day,overnight_delivery|same_day
hand_luggage,cabin_bag,carry_on|hold_luggage,checked_bag,checked_luggage,checked_baggage
paperback|hardback,hardcover
integer,integers,whole_number,whole_numbers|a_number,any_number,every_number,positive_number,positive_numbers,negative_number,negative_numbers|real_number,real_numbers|rational_number,rational_numbers|complex_number,complex_numbers
vegetarian|vegan|halal|kosher|gluten_free
dog,dogs,puppy|cat,cats,kitten|rabbit,rabbits|horse,horses
indoor,indoors|outdoor,outdoors
short_term|long_term|mid_term
primary_school|secondary_school,high_school|middle_school|college|university,uni,college
undergraduate,bachelor's,bachelors,bachelor|postgraduate,master's,masters|phd,doctoral,doctorate
freshwater|saltwater
commercial_property|residential,residential_property
public_sector|private_sector
front_end,frontend|back_end,backend|full_stack
staging|production|development,dev
rural|urban|suburban
civilian,civilians|military,veteran,veterans,army
left_handed,left_hander,left_handers,lefty,lefties|right_handed,right_hander,right_handers,righty,righties
remote,remotely,from_home|on_site,onsite,in_office,in_the_office,at_the_office
hourly|salaried
acoustic|electric
organic|conventional
whole_milk|skimmed_milk,skim_milk|semi_skimmed_milk
primary_key|foreign_key
primary_source,primary_sources|secondary_source,secondary_sources
window_seat|aisle_seat
traditional_ira|roth_ira,roth
term_life|whole_life
open_source|closed_source,proprietary
type_1|type_2
married|unmarried,divorced|widowed
dry|oily|curly|straight
eu,european|non_eu,outside_the_eu|us,american|uk,british
"""
# Qualifiers that usually change the answer where only one of two prompts has them.
_TELLING = """
business businesses commercial corporate student students charity nonprofit international internationally overseas
abroad
prepaid postpaid payg pay_as_you_go child children kid kids adult adults senior seniors pensioner elderly oap
baby babies infant infants newborn teenager teenagers toddler beta alpha nightly preview premium enterprise platinum pro
second_hand refurbished secondhand existing_customers existing_customer new_customers new_customer non_members
in_store in_person by_post by_phone over_the_phone in_branch joint self_employed freelance freelancer sole_trader
contractor part_time
temporary provisional off_peak weekend weekends bank_holiday bank_holidays overnight same_day express one_way
round_trip commercial_property residential partial_refund hand_luggage vegan vegetarian halal gluten_free virtual
free_tier free_plan
my_child our_child my_landlord our_landlord the_landlord my_tenant our_tenant i'm_a_landlord i_am_a_landlord
as_a_landlord my_employer our_employer
lite military veterans veteran divorced widowed annual annually yearly monthly weekly
fortnightly quarterly female male women men women's men's diesel hybrid ios iphone android mac windows linux ipad
enterprise guest guests landlord landlords tenant tenants employer employee employees short_term long_term
pregnant breastfeeding diabetic disabled disability domestic undergraduate postgraduate phd
"""
# Phrases whose words are no qualifiers in them.
_PLAIN = """
business_trip business_trips business_travel business_day business_days business_hours free_up feel_free
new_york new_zealand new_year new_delhi new_orleans new_jersey new_mexico new_england new_south_wales
"""
# May mean any value that it stands on.
EITHER = vocabulary("owner night nights college") | {
    f"{whose} {who}" for whose in ("my", "our") for who in ("child", "landlord", "tenant", "employer")
}
EITHER |= {"new child", "the owner"}
# Qualifiers of a thing, and verbs before a light word: "a used car", "what is used for".
VERBS = vocabulary("used")
# What denies a qualifier behind it, and the words that may stand between.
DENYING = vocabulary("not never without except excluding instead rather isn't aren't don't doesn't wasn't")
BETWEEN = vocabulary("a an the any my our your in on for of being getting as to than be get use using with from")
# Denies only beside another value: "by email, no printed copy", but not "no mobile signal".
LACKING = "no"
# Audiences and conditions behind "for", "as a", "while" that stand on no axis.
LONE = vocabulary(
    "pregnant breastfeeding diabetic diabetics disabled disability veterans veteran carers carer teacher"
    " teachers nurses"
)


def _spelling(written: str) -> str:
    return written.replace("_", " ")


SINGLE: dict[str, tuple[tuple[int, int], ...]] = {}
PHRASES: dict[str, tuple[tuple[int, int], ...]] = {}
for _axis, _line in enumerate(filter(None, _AXES.split("\n"))):
    for _value, _spellings in enumerate(_line.split("|")):
        for _word in _spellings.split(","):
            _table = PHRASES if "_" in _word else SINGLE
            _table[_spelling(_word)] = (*_table.get(_spelling(_word), ()), (_axis, _value))
PHRASES.update({_spelling(_word): () for _word in _PLAIN.split()})
TELLING = frozenset(map(_spelling, _TELLING.split()))
# The words that may begin a phrase, each with the phrases that it begins.
STARTS: dict[str, list[tuple[str, ...]]] = {}
for _phrase in PHRASES:
    STARTS.setdefault(_phrase.split()[0], []).append(tuple(_phrase.split()))
