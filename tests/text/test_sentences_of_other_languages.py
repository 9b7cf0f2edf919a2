"""The rules of languages other than English. A bar shows where a sentence ends."""

import pytest

from esr.text.sentences import split_sentences


def check(language: str, marked: str) -> None:
    assert split_sentences(marked.replace("|", "").replace("  ", " "), language) == [
        sentence.strip() for sentence in marked.split("|")
    ]


@pytest.mark.parametrize(
    "marked",
    [
        "Er kam am 7. Juli und ging am 31. Mai. | Er kommt am 7. | Die Polizei wartet.",
        "Im 3. Quartal des 19. Jahrhunderts stieg es. | Der 1. FC Köln spielt in der 2. Bundesliga.",
        "Er wurde 52. | Sein Sohn kam.",
        "Er wohnt dort seit 2016. | Ende Mai zieht er um. | Auf der 35. Kommandeurstagung sprach er.",
        "Es war 1995. | Danach kam er. | Im Jahr 2016. | Ende Mai ging er.",
        "Ludwig XIV. August und Johannes XXIII. Anton kamen. | Er hieß Ludwig XIV. | Die Leute lachen.",
        "Öl bzw. Butter, z. B. Brot, d. h. Essen, z.B. Käse, u. a. Wurst. | Er aß.",
        "Es kostet 5 Mrd. Euro, nicht 3 Mio. Dollar. | Es kostet 5 Mrd. | Die Regierung zahlt.",
        "Die Fahrt dauert 3 Std. Anfahrt. | Er wartet 3 Std. | Dann geht er.",
        "Dr. Angela Merkel und Prof. Dr. Heinz Müller kamen mit St. Pauli. | Hr. Meier blieb.",
        "Im 5. Jh. v. Chr. Geburt war es. | Das geschah 500 v. Chr. | Die Stadt fiel.",
        "Nach Art. 5 Abs. 2 und Nr. 7. | Das gilt.",
        "Wir essen Äpfel, Birnen usw. | Er geht. | Sie kauft Brot etc. | Heute nicht.",
        "Er sagte: „Wir gehen.“ | Dann ging er. | »Gut.« | »Nein«, sagte er. | „Wann?“, fragte er.",
        "BERLIN (dpa) - Die Kanzlerin sprach am Montag.",
        "Sehr zu empfehlen | Leider war es voll. | Das Essen ist zu teuer | Wir gehen nicht wieder hin.",
    ],
)
def test_german_is_split_by_its_own_rules(marked):
    check("de", marked)


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("fr", "M. Le Pen et Mme Royal ont parlé à Mgr. Lefebvre. | L'art. 3 le dit. | Qui ? | Moi !"),
        ("fr", "Il dit : « C'est fini. » | Elle part. | Il aime les pommes, etc. | Paris est loin."),
        ("fr", "En 52 av. J.-C. César vint. | C'était en 52 av. J.-C. | Il partit."),
        (
            "es",
            "El Sr. García vino a EE. UU. con la Sra. López. | Llegó a EE.UU. | Pero se fue. | ¿Qué? | ¡No!",
        ),
        (
            "it",
            "Il dott. Rossi e l'on. Bianchi sono a S. Pietro, n. 5. | Comprano pane, ecc. | Roma è bella.",
        ),
        (
            "pt",
            "O Sr. Silva mora na Av. Paulista, n. 5. | Ele foi aos EUA. | Comprou pão, etc. | Ana não.",
        ),
        ("nl", "Dr. Jansen komt o.a. met mr. Bakker, bijv. Jan. | ,,Hij zei het. '' | Daarna ging hij."),
        (
            "pl",
            "Prof. Nowak mieszka przy ul. Długiej w 1999 r. | Potem nie. | Ma psy, koty itd. | Anna nie.",
        ),
        (
            "ru",
            "В 1999 г. Россия вошла. | Он родился там в 1999 г. | Потом уехал. | А. С. Пушкин жил в г. Тула.",
        ),
        (
            "ru",
            "Он купил хлеб, молоко и т. д. | Анна нет. | Около 5 тыс. человек. | — Кто? — спросил он. | — Я!",
        ),
        ("uk", "У 1999 р. Україна вступила. | Проф. Шевченко і т. д. | Анна ні."),
        (
            "cs",
            "Dr. Novák a Ing. Nový žijí v ul. Dlouhé. | Mají psa, kočku atd. | Anna ne. | Přišel 7. května.",
        ),
        (
            "tr",
            "Prof. Dr. Ahmet Bey 2. Dünya Savaşı için geldi. | A.B.D. Başkanı geldi. | A.B.D. | İçin geldi.",
        ),
        ("el", "Ο κ. Παπαδόπουλος ήρθε π.χ. Δευτέρα. | Αγόρασε ψωμί κ.λπ. | Η Άννα όχι."),
        ("ru", "Он приехал в город в 2002 г. — Москва была другой. | — Кто там. — спросил он."),
        ("ru", "Он назвал это &quot;раем.&quot; | Она ушла."),
        ("ar", "من هو؟ | قال د. محمد ذلك. | ثم ذهب! | إنه... لا يصدق."),
        ("fa", "او کیست؟ | دکتر گفت. | سپس رفت."),
        ("ur", "وہ کون ہے؟ | اس نے کہا۔ | پھر وہ چلا گیا۔"),
        ("hi", "डॉ. मनमोहन सिंह आए। | क्या वे गए? | रु. 500 करोड़ मिले। | बी.सी. रॉय और एम. के. गांधी आए।"),
        ("hi", "वह घर पर है. | वे गए हैं. | वह आई."),
        ("bn", "তিনি এলেন।| তিনি গেলেন।"),
        ("ta", "கே. பாலகிருஷ்ணன் மற்றும் எஸ்.எஸ். தியாகராஜன் வந்தனர். | அவர் சென்றார்."),
        ("ko", "그는 갔다. | 그녀는 왔다! | 왜? | 오늘은 3.1절이다."),
        ("hy", "Նա եկավ։ | Նա գնաց։"),
        ("am", "እሱ መጣ። | እሷ ሄደች።"),
        ("my", "သူလာသည်။| သူသွားသည်။"),
        ("km", "គាត់មក។| គាត់ទៅ។"),
    ],
)
def test_other_languages_with_blanks_between_words_have_rules_too(language, marked):
    check(language, marked)


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("de", "So geht's. | Forscher essen Vitamin D. | Der Arzt weiß es. | Vitamin-D. | Forscher nicht."),
        (
            "de",
            "Sie hieß Steffi Graf. | Sie kam mit Max. | Er kaufte Bayer. | Die Aktie fiel. | (Max. 5 Euro.)",
        ),
        ("fr", "Un roman d'A. Camus, de J.-C. Brialy et de l'U.R.S.S. Gorbatchev. | C'est fini."),
        (
            "ru",
            "Он забил гол. | Команда ждёт. | Он сказал им. | Потом ушёл. | Он едет в центр. | Москва ждёт.",
        ),
        ("ru", "Улица им. Пушкина. | Так сказал доктор. | Иванов ушёл. | Он был 2-м. | Иванов 3-м."),
        ("ru", "Так сказал В. И. Ленин. | К. С. Станиславский и Н. К. Рерих ушли. | И он ушёл."),
        ("es", "Lo dijo J. A. Hobson con E. Y. Pérez. | A veces sí."),
        ("de", "Jones et al. 1998 und Müller et al. zeigen es. | Er kam."),
        ("bg", "Той каза им. | След това си тръгна. | Той е роден. | През 1990 г. дойде."),
        ("ro", "Aceasta a avut loc. | Apoi a plecat în anul respectiv. | Ion nu."),
        ("no", "Han kom. | Hun dro. | Han er dr. Hansen."),
        ("cs", "Řekl mnoho slov. | Potom odešel. | Gen. Novák zůstal."),
        ("ar", "كان ذلك في شهر عام 1990 م. | ثم ذهب من هنا في عام 1995م. | قال م. محمد ذلك."),
    ],
)
def test_a_word_is_no_abbreviation_because_it_is_spelt_or_ends_like_one(language, marked):
    check(language, marked)


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("ja", "「行こう。」|はい、彼は言った。|「行こう。」|もちろん行く。|「行こう。」|でも、彼は残った。"),
        ("ja", "「行こう。」と彼は言った。|「行こう。」は短い。"),
        ("zh", "「他走了。」|我知道，他回家了。|“他走了。”|据报道，他病了。|「走吧。」他說：好。"),
        ("zh", "「走吧。」|這部小說，他看過。|“走吧。”他问道，然后走了。"),
    ],
)
def test_what_follows_a_quotation_is_told_by_words_and_not_by_their_beginning(language, marked):
    check(language, marked)


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("zh", "他走了。|她來了！|誰？|「好。」|他笑了。"),
        ("zh", "「誰會想要聽呢？」他問道。|然後他離開了（真的。）。|完"),
        ("zh", "他说：“我们走吧。天黑了。”|然后他离开了。|增长3.5%。"),
        ("ja", "彼は「行こう。遅い。」と言った。|そして帰った。|「行こう。」|彼は笑った。"),
        ("ja", "Yahoo!ニュースによると、雨だ。|晴れ！|そう?|３．５％だ。"),
    ],
)
def test_chinese_and_japanese_keep_a_quotation_whole(language, marked):
    check(language, marked)


def test_a_quotation_that_is_too_long_or_never_closed_is_split():
    long = "「" + "他走了。" * 60 + "」"
    assert len(split_sentences(long, "zh")) > 50
    assert split_sentences("「他走了。她來了。", "zh") == ["「他走了。", "她來了。"]


@pytest.mark.parametrize(
    "marked",
    [
        "นายกรัฐมนตรีแถลงข่าวที่กรุงเทพเมื่อวานนี้ | ประชาชนจำนวนมากมารอฟังการแถลงข่าว",
        "รัฐบาลใช้เงินไปแล้วประมาณ 500 ล้านบาท และจะใช้เงินเพิ่มอีกในปีหน้า",
        "เขากล่าวกับผู้สื่อข่าวว่า “เราจะทำงานต่อไปอย่างเต็มที่ เราทำเพื่อประชาชนทุกคน” | ประชาชนจำนวนมากมารอฟัง",
    ],
)
def test_thai_splits_at_blanks_but_not_within_quotations_and_amounts(marked):
    check("th", marked)
