"""Which listed name lies within which: a city in its country, a system in its family, a product with its maker.

Data, and the questions whether one name holds another and whether it is a place.
Invariant: nothing lies within itself, and what holds a name holds all that lies within it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_HOLDS = """
uk=england,scotland,wales,belfast,hmrc,nhs
england=london,leeds,bristol,liverpool,birmingham,sheffield,newcastle,nottingham,brighton,manchester
scotland=glasgow,edinburgh|wales=cardiff|ireland=dublin
usa=alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,idaho,illinois,indiana,iowa
usa=kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska
usa=nevada,ohio,oklahoma,oregon,pennsylvania,tennessee,texas,utah,vermont,virginia,washington,wisconsin,wyoming
usa=new hampshire,new jersey,new mexico,north carolina,north dakota,south carolina,south dakota,rhode island
usa=west virginia,nyc,boston,irs,fbi
california=la,sf,san diego,sacramento|texas=dallas,houston,austin|florida=miami,orlando,tampa
illinois=chicago|washington=seattle|colorado=denver|georgia=atlanta|michigan=detroit|nevada=vegas|arizona=tucson
pennsylvania=philadelphia,pittsburgh|oregon=portland|tennessee=nashville,memphis|ohio=cleveland,cincinnati
wisconsin=milwaukee|minnesota=minneapolis|maryland=baltimore|hawaii=honolulu
france=paris,lyon,marseille,toulouse,bordeaux,strasbourg
germany=berlin,munich,hamburg,frankfurt,cologne,stuttgart,leipzig,dresden
italy=rome,milan,naples,turin,venice,florence,bologna|spain=madrid,barcelona,valencia,seville,malaga
portugal=lisbon,porto|austria=vienna,salzburg|czech=prague|hungary=budapest|netherlands=amsterdam,rotterdam,utrecht
belgium=brussels,antwerp,ghent|switzerland=zurich,geneva,basel|norway=oslo|sweden=stockholm,gothenburg
denmark=copenhagen|finland=helsinki,tampere|russia=moscow|ukraine=kyiv,kharkiv,lviv|poland=warsaw,krakow,gdansk
turkey=istanbul,ankara,izmir,antalya|greece=athens,thessaloniki|egypt=cairo|japan=tokyo,osaka,kyoto,nagoya,sapporo
china=beijing,shanghai,shenzhen,guangzhou,wuhan|korea=seoul,busan|south korea=seoul,busan|thailand=bangkok
indonesia=jakarta|philippines=manila|taiwan=taipei|vietnam=hanoi,saigon|iran=tehran|iraq=baghdad|syria=damascus
india=delhi,mumbai,bangalore,chennai,kolkata,hyderabad,pune,ahmedabad,jaipur,lucknow,kochi,goa
pakistan=karachi,lahore,islamabad,peshawar,rawalpindi|bangladesh=dhaka|nepal=kathmandu|israel=jerusalem
saudi arabia=riyadh,jeddah|qatar=doha|lebanon=beirut|jordan=amman|oman=muscat|morocco=rabat,casablanca,marrakech
australia=sydney,melbourne,brisbane,perth,adelaide,canberra|zealand=auckland,christchurch
canada=toronto,vancouver,montreal,ottawa,calgary,edmonton,winnipeg,quebec|nigeria=lagos,abuja|kenya=nairobi
south africa=johannesburg|estonia=tallinn|latvia=riga|lithuania=vilnius|belarus=minsk|bulgaria=sofia|romania=bucharest
serbia=belgrade|croatia=zagreb|slovenia=ljubljana|slovakia=bratislava|iceland=reykjavik|georgia=tbilisi
armenia=yerevan|azerbaijan=baku|algeria=algiers|tunisia=tunis|libya=tripoli|senegal=dakar|ghana=accra|uganda=kampala
peru=lima|colombia=bogota|ecuador=quito|venezuela=caracas|uruguay=montevideo|cuba=havana
the world=europe,asia,africa,usa,canada,mexico,brazil,argentina,chile,peru,colombia,venezuela,cuba,jamaica,bolivia
the world=ecuador,paraguay,uruguay,guatemala,honduras,nicaragua,panama,haiti,puerto rico,costa rica,el salvador
the world=australia,zealand,fiji,samoa,greenland
europe=schengen,eu,uk,france,germany,italy,spain,portugal,austria,czech,hungary,netherlands,belgium,switzerland,norway
europe=sweden,denmark,finland,poland,greece,ireland,russia,ukraine,romania,bulgaria,croatia,serbia,iceland,turkey
europe=albania,andorra,belarus,bosnia,cyprus,estonia,latvia,lithuania,georgia,armenia,kosovo,liechtenstein,luxembourg
europe=macedonia,malta,moldova,monaco,montenegro,slovakia,slovenia,vatican
eu=schengen,france,germany,italy,spain,portugal,austria,belgium,netherlands,ireland,greece,poland,sweden,finland
eu=denmark,czech,hungary,romania,bulgaria,croatia,slovakia,slovenia,estonia,latvia,lithuania,luxembourg,malta,cyprus
asia=india,china,japan,korea,pakistan,bangladesh,vietnam,thailand,indonesia,malaysia,singapore,philippines,nepal,israel
asia=iran,iraq,afghanistan,syria,lebanon,dubai,qatar,kuwait,taiwan,mongolia,cambodia,tibet,azerbaijan,bahrain,bhutan
asia=brunei,kazakhstan,kyrgyzstan,laos,maldives,myanmar,oman,palestine,tajikistan,turkmenistan,uzbekistan,yemen,turkey
asia=hong kong,north korea,south korea,saudi arabia,sri lanka,jordan
africa=egypt,morocco,nigeria,kenya,ethiopia,ghana,algeria,angola,benin,botswana,burundi,cameroon,chad,congo,eritrea
africa=gabon,gambia,guinea,lesotho,liberia,libya,madagascar,malawi,mali,mauritania,mauritius,mozambique,namibia,niger
africa=rwanda,senegal,seychelles,somalia,sudan,tanzania,togo,tunisia,uganda,zambia,zimbabwe,south africa
linux=ubuntu,debian,fedora,centos,bash|android=samsung,pixel,xiaomi,huawei|ios=iphone,ipad|macos=macbook
apple=iphone,ipad,ios,macos,macbook,siri|google=gmail,android,youtube,chrome,pixel
microsoft=windows,excel,outlook,powerpoint,azure|amazon=aws|aws=ec2,s3,dynamodb|samsung=galaxy|sony=playstation
microsoft=xbox|nodejs=npm|docker=dockerfile
python=numpy,pandas,pytorch,tensorflow,keras,django,flask,fastapi,pyspark|javascript=react,angular,vue,svelte,nodejs
sql=sqlserver|powerbi=dax|java=jdk
penicillin=amoxicillin|islam=ramadan|excel=csv,vlookup,pivottable
"""
_EVERYWHERE = "the world"


def _holders() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in _HOLDS.strip().replace("\n", "|").split("|"):
        holder, _, held = entry.partition("=")
        for name in held.split(","):
            found[name] = (*found.get(name, ()), holder)
    return found


_HOLDERS = _holders()


def apart(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Those of `names` that neither hold one of `others` nor lie within it."""
    held = {holder for other in others for holder in _around(other)}
    return [name for name in names if name not in held and frozenset(_around(name)).isdisjoint(others)]


def _around(name: str) -> Iterator[str]:
    """All that a name lies within."""
    for holder in _HOLDERS.get(name, ()):
        yield holder
        yield from _around(holder)


def is_place(name: str) -> bool:
    """Return True for a country, a continent, and what lies within them."""
    return _EVERYWHERE in _around(name)
