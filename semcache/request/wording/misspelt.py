"""Misspelt words and the one frequent word that each can stand for.

Words and frequencies are those of symspellpy (MIT), loaded on first use or by `warm`. `known_names.txt` beside this
file holds the names that no dictionary has (those of Faker's provider lists, MIT, and of BERT's uncased vocabulary,
Apache-2.0, that lie within a typing slip of a frequent word).
Invariant: a word of the dictionary, an inflected form of one, and a name are never corrected.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from semcache.request.text import vocabulary
from semcache.request.wording.abbreviations import ABBREVIATIONS
from semcache.request.wording.british import AMERICAN
from semcache.request.wording.contractions import CONTRACTIONS
from semcache.request.wording.english import FUNCTION_WORDS
from semcache.request.wording.protected import STYLED

if TYPE_CHECKING:
    from symspellpy import SymSpell

_CANDIDATES = 26_000  # words frequent enough to be what somebody meant
_COMMON = 1_800_000  # occurrences of a word that an unlikely slip may lead to
_FAR_CANDIDATES = 8_000  # words that two slips may lead to
_SHORTEST = 4
_LONG = 8
_RATIO = 10  # how much likelier the correction is than any other as near
_SURE = 40_000_000  # occurrences of a word that a word of four letters may stand for
_VOWELS = frozenset("aeiouy")
_PREFIXES = ("un", "re", "non", "pre", "sub", "over", "multi", "anti")

_PLAIN = 3
# Countries, known by name: a word in capitals may be a slip of one, and so may a short word.
PLACES = vocabulary(
    """
    afghanistan albania algeria angola argentina armenia australia austria azerbaijan bangladesh belgium bolivia brazil
    bulgaria cambodia cameroon canada chile colombia croatia cuba cyprus denmark ecuador egypt estonia ethiopia finland
    france germany greece guatemala hungary iceland india indonesia ireland israel italy jamaica japan jordan kazakhstan
    kenya kuwait latvia lebanon libya lithuania luxembourg madagascar malaysia malta mexico moldova mongolia morocco
    mozambique myanmar namibia nepal netherlands nicaragua nigeria norway pakistan panama paraguay peru philippines
    poland
    portugal romania russia scotland senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland
    syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia
    zimbabwe europe africa america antarctica california florida london paris berlin madrid barcelona amsterdam brussels
    """
)
# Given names that a longer name may be another form of: "Alexandre".
_GIVEN = vocabulary(
    """
    alexander alexandra christian christina christine christopher catherine constantine elizabeth frederick francisco
    nathaniel sebastian stephanie valentine valentino gabrielle leonardo alessandro jefferson washington anderson
    richardson robertson nicholson sutherland cumberland wellington
    """
)
_LONG_NAME = 9
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SOUNDS = {"c": "sk", "k": "c", "s": "cz", "z": "s", "g": "j", "f": "v", "v": "f", "t": "d", "y": "i", "i": "y"}
# The keys beside each, and letters that sound alike.
_BESIDE = {
    key: "".join(
        [
            *(row[max(0, at - 1) : at] + row[at + 1 : at + 2]),
            *(other[max(0, at - 1) : at + 2] for other in _ROWS if abs(_ROWS.index(other) - line) == 1),
        ]
    )
    + {"c": "sk", "k": "c", "s": "cz", "z": "s", "g": "j", "f": "v", "v": "f", "t": "d", "y": "i", "i": "y"}.get(
        key, ""
    )
    for line, row in enumerate(_ROWS)
    for at, key in enumerate(row)
}
# Slips so common that a rival as near says nothing.
_USUAL = {
    "teh": "the",
    "arguement": "argument",
    "maintainance": "maintenance",
    "publically": "publicly",
    "rythm": "rhythm",
    "rythym": "rhythm",
    "tommorow": "tomorrow",
    "truely": "truly",
    "vaccum": "vacuum",
    "vacumn": "vacuum",
    "humourous": "humorous", "hte": "the", "adn": "and", "nad": "and", "wich": "which", "whcih": "which", "hwo": "how",
    "hwat": "what", "waht": "what", "wath": "what", "wierd": "weird", "untill": "until", "lisence": "license",
    "grammer": "grammar", "tounge": "tongue", "comitee": "committee", "commitee": "committee", "explane": "explain",
    "recepie": "recipe", "recipie": "recipe", "suprise": "surprise", "speach": "speech", "beter": "better",
    "verry": "very", "becuse": "because", "becasue": "because", "wheter": "whether", "definetly": "definitely",
    "definatly": "definitely", "alot": "a lot", "noone": "no one", "thier": "their", "ther": "there", "realy": "really",
    "sieze": "seize", "belive": "believe", "recive": "receive", "foward": "forward", "buisness": "business",
    "bussiness": "business", "ammount": "amount", "allready": "already", "tommorrow": "tomorrow", "tomorow": "tomorrow",
    "calandar": "calendar", "enviroment": "environment", "wensday": "wednesday", "febuary": "february",
    "restaraunt": "restaurant", "restuarant": "restaurant", "questionaire": "questionnaire", "pronounciation":
    "pronunciation", "mispell": "misspell", "mispelled": "misspelled", "heirarchy": "hierarchy", "gaurd": "guard",
    "gaurantee": "guarantee", "garantee": "guarantee", "seprate": "separate", "temperture": "temperature",
    "temprature": "temperature", "vegatable": "vegetable", "vegtable": "vegetable", "exersise": "exercise",
    "excercise": "exercise", "exercize": "exercise", "ocasion": "occasion", "ocassion": "occasion", "tecnique":
    "technique", "adress": "address", "adresses": "addresses", "occurence": "occurrence", "occurance": "occurrence",
    "embarass": "embarrass", "harrass": "harass", "happend": "happened",
}  # fmt: skip
_MODERN = vocabulary(
    """
    kotlin nginx kubernetes xiaomi huawei redis mongo django golang kafka vuejs axios nuxt vite vitest scala julia grpc
    yaml toml json jsonb wasm mypy sklearn keras spacy nltk haskell tokio jenkins prisma figma tiktok deno zig erlang
    hadoop webpack eslint vercel supabase graphql chatgpt openai claude llama gemini mistral qwen deepseek perplexity
    tesla ebay venmo paypal zelle roku hulu ikea lego nike adidas spotify shopify airbnb uber lyft ozempic tylenol anki
    numpy scipy pandas pytest matplotlib seaborn plotly streamlit gradio fastapi uvicorn gunicorn starlette pydantic
    sqlalchemy alembic celery asyncio async await stdin stdout stderr printf scanf malloc calloc sizeof typedef enum
    enums struct structs args kwargs argv argc init param params regex regexp config configs repo repos refactor
    refactoring refactored middleware backend frontend fullstack devops gitops webhook webhooks websocket websockets
    localhost hostname username usernames filename filenames filepath dataset datasets dataframe dataframes timestamp
    timestamps datetime timezone timezones boolean booleans nullable nullptr iterable iterator iterators tuple tuples
    mutex mutexes goroutine goroutines lambda lambdas closure closures memoize memoization serverless microservice
    microservices monorepo terraform ansible vagrant podman dockerfile kubectl kubelet etcd istio envoy traefik haproxy
    memcached cassandra neo4j elasticsearch kibana logstash grafana prometheus datadog splunk snowflake databricks dbt
    airflow bigquery redshift dynamodb lambda fargate cloudfront cloudflare netlify heroku firebase firestore amplify
    hdfs hbase presto trino iceberg parquet avro protobuf thrift tensorflow pytorch jupyter colab kaggle huggingface
    langchain embeddings embedding tokenizer tokenizers tokenization transformer transformers autoencoder softmax relu
    sigmoid backprop backpropagation hyperparameter hyperparameters overfitting underfitting finetune finetuning
    xgboost lightgbm catboost sarsa dqn ppo rlhf lora qlora gpus tpus cuda rocm openmp mpi
    android iphone ipad macbook imac airpods pixel galaxy samsung motorola nokia lenovo asus acer toshiba panasonic
    nvidia radeon ryzen intel qualcomm snapdragon bluetooth wifi ethernet firewall vpn vpns router routers modem ssid
    minecraft roblox fortnite valorant overwatch zelda mario pokemon pikachu naruto anime manga hentai kpop
    bitcoin ethereum blockchain crypto cryptocurrency stablecoin defi nft nfts dogecoin solana coinbase binance
    instagram facebook whatsapp snapchat pinterest linkedin reddit tumblr youtube twitch netflix discord telegram wechat
    podcast podcasts vlog vlogger selfie selfies hashtag hashtags emoji emojis meme memes gif gifs influencer
    covid coronavirus omicron semaglutide metformin ibuprofen acetaminophen paracetamol naproxen lisinopril atorvastatin
    omeprazole sertraline fluoxetine escitalopram zoloft lexapro xanax adderall ritalin vyvanse wegovy mounjaro botox
    vegan vegans keto paleo quinoa kombucha kimchi sriracha tahini hummus sushi ramen matcha latte barista boba pho
    airbnb expedia ryanair easyjet lufthansa emirates qantas amtrak brexit biden obama trump putin zelensky modi macron
    email emails login logins logout signup website websites webpage webpages online offline internet smartphone
    smartphones laptop laptops download downloads upload uploads uploading spreadsheet spreadsheets startup startups
    freelancer freelancing crowdfunding cybersecurity malware ransomware phishing spyware infosec pentest
    mindfulness wellness cardio pilates crossfit burpee burpees deadlift deadlifts hiit gluten probiotics
    okay yeah yep nope gonna wanna gotta kinda lemme gimme dunno alot lol omg idk imo tbh
    linux ubuntu debian fedora centos gentoo xfce gnome wayland systemd grub bios uefi chmod chown grep curl wget
    sudo bash zsh tmux emacs vim neovim vscode pycharm intellij eclipse xcode cmake makefile gcc clang llvm rustc
    npm pnpm yarn bower gulp grunt rollup parcel esbuild babel jest mocha chai cypress selenium playwright puppeteer
    nestjs nextjs nodejs reactjs angularjs jquery bootstrap tailwind css html xml svg svelte ember redux zustand mobx
    rxjs lodash moment dayjs zod yup axios swr trpc laravel symfony codeigniter wordpress drupal joomla magento rails
    sinatra phoenix elixir clojure fsharp ocaml fortran cobol prolog matlab octave latex bibtex arduino raspberry
    esp32 stm32 verilog vhdl fpga sqlite mysql mariadb postgres postgresql psql oracle plsql tsql mssql nosql orm
    oauth saml jwt jwts cors csrf xss sql api apis url urls uri uris http https ssh sftp ftp smtp imap dns dhcp tcp udp
    linter linters formatter codebase codebases changelog readme dropdown checkbox checkboxes tooltip navbar sidebar
    favicon hotfix bugfix merge rebase rebasing stash gitignore fork clickable scrollable resizable responsive
    bool bools func funcs docstring docstrings functools renderable validator validators coord coords ident idents
    conftest fieldname embedder embedders fullname mtime ctime atime mixin mixins codec codecs util utils idna dunder
    isinstance stmt stmts proba awaitable awaitables declarator accessor accessors coro coros quantile quantiles conda
    hardlink hardlinks networkx readonly truthy falsy falsey popen musl parens paren superset supersets repr reprs xaxis
    yaxis mouseover userbase inout certifi scrypt uint bindir significand alloc dealloc realloc mixtral upcasting evals
    tostring ljust rjust contourf performant minimax lossy liveness subnet subnets subnetting openid algo algos calc
    trunc iters samp sprintf fprintf snprintf graphviz manpage manpages pyproject restic guid guids hotkey hotkeys
    symlink symlinks setter setters getter getters deps impl impls lerp addr addrs fopen popcount memcpy strlen strcmp
    errno stdlib stdio iostream cout cin println pprint itertools zope parso pygments colorama cupy logit logits argmax
    argmin arity monad monads functor functors currying ansi ascii utf chroot cron crontab daemonset tarball teardown
    typeof instanceof substr nargs href onclick flexbox datepicker unicast multicast anycast qubit qubits goroutines
    minify minified linting scraper crawlers keygen passphrase keystore truststore sandboxed sandboxing rollout rollouts
    infty bbox bboxes fastai asdict dedent llava bleu asin ddict minmax miter passwd hardcode hardcoded profiler
    profilers synset rint consolas textfile sturm rfile iinfo colno suff prefit nwhere thead tbody tfoot synsets
    tensor tensors matrices eigenvalue eigenvalues eigenvector laplacian jacobian hessian bayes bayesian markov poisson
    gaussian heteroscedasticity kurtosis quartile quartiles boxplot histogram histograms scatterplot
    """
)


class _Speller(NamedTuple):
    """Words that stand, and the frequent words within one and two slips of a word."""

    known: frozenset[str]
    near: SymSpell
    far: SymSpell


def warm() -> None:
    """Load the dictionary, which the first correction would otherwise wait for."""
    _speller()


def is_word(word: str) -> bool:
    """Return True if a word in lower case stands in the dictionary, as itself or as an inflected form, or is a name."""
    known = _speller().known
    if word in known or (word.endswith("s") and word[:-1] in known):
        return True
    for ending in ("ed", "ing", "er"):
        stem = word.removesuffix(ending)
        # "occured" is no form of "occur", for "occurred" is one.
        if stem != word and len(stem) > 2 and stem + stem[-1] + ending not in known:
            return stem in known or stem + "e" in known
    if word.endswith("ly") and len(word) > 6 and word[:-2] in known:
        return True
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 4 and word[len(prefix) :] in known for prefix in _PREFIXES
    )


@lru_cache(maxsize=32_768)
def correction(word: str) -> str | None:
    """The one frequent word that a word in lower case is a slip of; None for a word, a name, and where several are."""
    if (usual := _USUAL.get(word)) is not None:
        return usual
    if not _SHORTEST <= len(word) <= 24 or not word.isascii() or not word.isalpha() or is_word(word):
        return None
    if word[0] == word[1] == word[2] or (_VOWELS.isdisjoint(word) and len(word) < 5):
        return None
    speller = _speller()
    return _clear(word, speller.near, 1) or (_clear(word, speller.far, 2) if len(word) >= _LONG else None)


def _clear(word: str, speller: SymSpell, distance: int) -> str | None:
    """The candidate at this distance that is far likelier than the others; None without one."""
    from symspellpy import Verbosity

    found = sorted(
        (-item.count * _likeliness(word, item.term), item.term, item.count)
        for item in speller.lookup(word, Verbosity.ALL, max_edit_distance=distance)
        if item.distance == distance and (item.term[0] == word[0] or item.term[:2] == word[1::-1])
    )
    if not found:
        return None
    score, best, count = found[0]
    likeliness = _likeliness(word, best)
    place = best in PLACES and likeliness > 1 and len(word) > _SHORTEST
    if likeliness < (_PLAIN if distance > 1 else 1) or (count < _needed(word, likeliness) and not place):
        return None
    if (
        len(word) <= _SHORTEST + (likeliness < _PLAIN)
        and not place
        and count < (_SURE // 2 if likeliness == 4 else _SURE)
    ):
        return None
    if len(found) > 1:
        rival = found[1][2] * max(1, _likeliness(word, found[1][1]))
        if -score < rival * (2 if _stem(best) == _stem(found[1][1]) else _RATIO):
            return None
    return None if _inflected(word, best) else best


def _needed(word: str, likeliness: int) -> int:
    """How often a word must occur for a slip as likely as this, in a word as long, to lead to it."""
    return 0 if likeliness >= _PLAIN else _COMMON // 6 if likeliness > 1 and len(word) >= _LONG else _COMMON


def may_be_no_name(word: str, right: str) -> bool:
    """Return True if a word with a capital is rather a slip of `right` than a name: a country, or a long word."""
    return right in PLACES or (len(word) >= _LONG_NAME and right not in _GIVEN and right not in _MODERN)


def _likeliness(word: str, term: str) -> int:
    """How likely the slip is that leads from a term to a word; 0 for one that rather makes another word.

    Letters swapped or doubled and a vowel for a vowel are likely, a letter left out less, a key beside the right one
    least. A slip in the last letter is as likely another ending.
    """
    if len(word) == len(term):
        pairs = [(one, two) for one, two in zip(word, term, strict=True) if one != two]
        if sorted(word) == sorted(term):
            return 4
        if word[-1] != term[-1]:
            return 0
        if all(one in _VOWELS and two in _VOWELS for one, two in pairs):
            return _PLAIN
        return int(all(two in _BESIDE.get(one, "") for one, two in pairs))
    longer, shorter = (word, term) if len(word) > len(term) else (term, word)
    if _single(longer) == _single(shorter):
        return 6
    if word[-1] != term[-1]:
        return 0
    if len(term) > len(word):
        return 2
    at = next(at for at, (one, two) in enumerate(zip(longer, shorter + " ", strict=False)) if one != two)
    around = longer[at - 1 : at] + longer[at + 1 : at + 2]
    return int(any(key in _BESIDE.get(longer[at], "") for key in around))


def _single(word: str) -> str:
    return "".join(letter for at, letter in enumerate(word) if not at or word[at - 1] != letter)


def _stem(term: str) -> str:
    for ending in ("ing", "ed", "es", "s", "d"):
        if term.endswith(ending):
            return term[: -len(ending)]
    return term


def _inflected(word: str, term: str) -> bool:
    """Return True if an ending alone is all the difference, as between a plural and its singular."""
    return word in (term + "s", term + "d", term + "n", term + "a") or term == word + "s"


@lru_cache(maxsize=1)
def _speller() -> _Speller:
    from symspellpy import SymSpell

    lines = (
        files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig").split("\n")
    )
    near = SymSpell(max_dictionary_edit_distance=1, prefix_length=7)
    far = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
    words: list[str] = []
    for line in lines:
        term, _, count = line.partition(" ")
        if not term:
            continue
        words.append(term)
        at = len(words)
        spelt = AMERICAN.get(term, term)
        if at > _CANDIDATES or len(term) < _SHORTEST or not term.isalpha() or spelt != term:
            if spelt != term and at <= _CANDIDATES:
                near.create_dictionary_entry(spelt, int(count))
            continue
        near.create_dictionary_entry(term, int(count))
        if at <= _FAR_CANDIDATES and len(term) >= _LONG - 1:
            far.create_dictionary_entry(term, int(count))
    for term in _MODERN:
        if len(term) >= _LONG - 1:
            near.create_dictionary_entry(term, _COMMON)
    names = files("semcache.request.wording").joinpath("known_names.txt").read_text(encoding="utf-8").split()
    plain = frozenset().union(
        words, names, _MODERN, STYLED, AMERICAN, AMERICAN.values(), CONTRACTIONS, ABBREVIATIONS, FUNCTION_WORDS
    )
    return _Speller(plain, near, far)
