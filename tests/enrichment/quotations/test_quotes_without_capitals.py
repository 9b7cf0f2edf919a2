"""Quotations and speakers in Arabic and Chinese, whose scripts have no capitals."""

from __future__ import annotations

import time

import pytest

from tests.support.found_quotes import find_in_text


def found_in(text: str, language: str) -> list[tuple[str, str | None]]:
    return [(quoted.strip('“”"„,.،。，'), quote.speaker) for quoted, quote in find_in_text(text, language)]


@pytest.mark.parametrize(
    ("text", "quoted", "speaker"),
    [
        ('قال أحمد علي، وهو طبيب، "نحن بحاجة إلى الوقت".', "نحن بحاجة إلى الوقت", "أحمد علي"),
        ('وقال أحمد علي إن الوضع "خطير جدا للجميع".', "خطير جدا للجميع", "أحمد علي"),
        ('وأكّد أحمد علي أنّ الوضع "خطير جدا للجميع".', "خطير جدا للجميع", "أحمد علي"),
        ('لكن وسائل الإعلام أشارت إلى "أخطاء كثيرة جدا".', "أخطاء كثيرة جدا", "وسائل الإعلام"),
        ('"نحن بحاجة إلى الوقت"، كما قالت سارة حسن.', "نحن بحاجة إلى الوقت", "سارة حسن"),
        ('"نحن بحاجة إلى الوقت"، وفقًا للمتحدث باسم الوزارة.', "نحن بحاجة إلى الوقت", "متحدث باسم الوزارة"),
        ('نقلت الوكالة عن مصدر أمني قوله إن "العملية مستمرة الآن".', "العملية مستمرة الآن", "مصدر أمني"),
        ('صرحت السيدة حسن لصحيفة القدس قائلة: "نحن بحاجة إلى الوقت".', "نحن بحاجة إلى الوقت", "السيدة حسن"),
        ("”نحن بحاجة إلى الوقت“، قالت سارة حسن.", "نحن بحاجة إلى الوقت", "سارة حسن"),
    ],
)
def test_an_arabic_speaker_is_mostly_behind_the_verb(text: str, quoted: str, speaker: str) -> None:
    assert found_in(text, "ar") == [(quoted, speaker)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ('وقال يوم الأحد وزير الدفاع خالد العلي: "نحن مستعدون لكل شيء".', "وزير الدفاع خالد العلي"),
        ('وبحسب التقرير، "لم تكن هناك أي مخالفات".', "التقرير"),
        ('وفقًا لرويترز، قال أحمد علي، "نحن مستعدون لكل شيء".', "أحمد علي"),
        ('"نحن مستعدون لكل شيء" هذا ما قالته سارة حسن.', "سارة حسن"),
        ('أما الوزير فقال إن الخطة "لا تزال قيد الدراسة".', "الوزير"),
        ('عاد الرئيس إلى البلاد ووصف الزيارة بأنها "ناجحة بكل المقاييس".', "الرئيس"),
        ('حاول الوزير في البداية أن ينفي، وأضاف: "نحن مستعدون لكل شيء".', "الوزير"),
        ('«نحن مستعدون لكل شيء»، بحسب ما أعلن وزير الدفاع.', "وزير الدفاع"),
    ],
)  # fmt: skip
def test_an_arabic_speaker_may_be_apart_from_the_verb(text: str, speaker: str) -> None:
    assert [quote.speaker for _, quote in find_in_text(text, "ar")] == [speaker]


def test_the_second_verb_of_an_arabic_sentence_has_the_speaker_of_the_first() -> None:
    text = 'أكد الوزير أن "الحرب ستنتهي قريبا"، مشيرًا إلى أن الجيش "سيبقى هناك دائما".'
    assert found_in(text, "ar") == [("الحرب ستنتهي قريبا", "الوزير"), ("سيبقى هناك دائما", "الوزير")]


@pytest.mark.parametrize(
    ("text", "quoted", "speaker"),
    [
        ("在采访开始时她说“我必须现在就去做”。", "我必须现在就去做", "她"),
        ("王明说，直到中学他才知道“不是每个人都像我一样”。", "不是每个人都像我一样", "王明"),
        ("据路透社报道，王明称“这是最好的协议”。", "这是最好的协议", "王明"),
        ("据新华社报道，“会议取得了圆满成功”。", "会议取得了圆满成功", "新华社"),
        ("通知上声明：“我们希望会议富有成果。”", "我们希望会议富有成果", "通知上"),
        ("王明曾发推特：“感谢你挺身而出帮助我们。”", "感谢你挺身而出帮助我们", "王明"),
        ("“我们不知道原因，”她周五告诉《邮报》。", "我们不知道原因", "她"),
        ("“我感到非常自豪，”“红会”主席王明说。", "我感到非常自豪", "“红会”主席王明"),
        ("王明上周六表示：“我们感到非常自豪。”", "我们感到非常自豪", "王明"),
        ("王明在会上指出，要坚持“合作共赢的原则”。", "合作共赢的原则", "王明"),
        ("不愿透露姓名的官员表示，“这件事很重要”。", "这件事很重要", "不愿透露姓名的官员"),
    ],
)
def test_a_chinese_speaker_is_before_the_verb(text: str, quoted: str, speaker: str) -> None:
    assert found_in(text, "zh") == [(quoted, speaker)]


def test_a_chinese_verb_without_a_subject_has_the_speaker_of_the_clause_before() -> None:
    text = "王明告诉记者，“我不会参加选举”，并称这是“一个痛苦的决定”。"
    assert found_in(text, "zh") == [("我不会参加选举", "王明"), ("一个痛苦的决定", "王明")]
    assert found_in("检察官表示有计划，并指责“一些人散布恐惧”。", "zh") == [("一些人散布恐惧", "检察官")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", 'شاهد الجمهور فيلم "الحب في زمن الكوليرا" أمس.'),
        ("ar", 'قال أحمد علي إن رواية "الحب في زمن الكوليرا" طويلة.'),
        ("zh", "她出版了名为“我的祖国我的家乡”的小说。"),
        ("zh", "他说服了“国家科学基金委员会”的官员。"),
        ("zh", "王明指名道姓地提到“参议院司法委员会”资深成员。"),
        ("zh", "这部电影获得“最佳外语片奖提名”。"),
    ],
)
def test_a_title_in_a_script_without_capitals_is_no_quotation(language: str, text: str) -> None:
    assert found_in(text, language) == []


def test_a_long_chinese_sentence_without_a_verb_is_read_in_a_moment() -> None:
    clause = "在中对向上时又也还在里在中对向上时又也还在里在中对向上时又也还在里，"
    began = time.process_time()
    find_in_text(f"{clause * 60}“我们明天就要离开这个地方了”{clause * 60}", "zh")
    assert time.process_time() - began < 10
