"""The two Chinese texts of every cause: each in its own script and terms, set as its readers expect it."""

import re

import pytest

from rigup.knowledge import tables
from rigup.knowledge.doctor_tables import texts

LANGUAGES = ("zh_CN", "zh_TW")
ENGLISH = texts("en")

# Simplified and Traditional forms of common characters; only such as the other script does not write in these texts.
PAIRS = """
个個 们們 为為 这這 会會 时時 国國 对對 发發 无無 开開 关關 问問 间間 门門 闭閉 闲閒 阅閱 动動 务務 劳勞 势勢 办辦 员員 团團 图圖 圆圓
围圍 场場 块塊 坏壞 声聲 处處 备備 复複 够夠 头頭 夹夾 奖獎 妇婦 学學 宁寧 宝寶 实實 审審 宽寬 宾賓 寻尋 导導 将將 尔爾 尝嘗 层層
属屬 岁歲 岛島 币幣 帐帳 带帶 帮幫 广廣 库庫 应應 废廢 异異 弃棄 张張 弹彈 强強 归歸 当當 录錄 彻徹 径徑 忆憶 怀懷 态態 总總 恶惡
惊驚 惯慣 战戰 户戶 扩擴 执執 扫掃 护護 报報 担擔 拟擬 择擇 挂掛 挡擋 损損 换換 据據 摆擺 数數 断斷 旧舊 显顯 晓曉 暂暫 术術 机機
杂雜 权權 条條 来來 杨楊 极極 构構 枪槍 标標 栈棧 树樹 样樣 桥橋 档檔 检檢 楼樓 横橫 欢歡 毕畢 气氣 汇匯 汉漢 决決 没沒 沟溝
泽澤 测測 济濟 浏瀏 涨漲 渐漸 温溫 湾灣 满滿 滤濾 灭滅 灯燈 灵靈 点點 炼煉 热熱 爱愛 状狀 独獨 狭狹 环環 现現 电電 画畫 疗療 监監
盖蓋 盘盤 码碼 础礎 硕碩 确確 离離 种種 积積 称稱 稳穩 窥窺 竞競 笔筆 签簽 简簡 类類 粮糧 紧緊 红紅 约約 级級 纪紀 纯純 纳納 线線
练練 组組 细細 终終 绍紹 经經 绑綁 结結 给給 络絡 绝絕 统統 继繼 续續 维維 综綜 缓緩 编編 缩縮 网網 罗羅 罚罰 联聯 职職 肃肅
胜勝 脑腦 脚腳 节節 范範 获獲 虑慮 虚虛 虽雖 蓝藍 补補 装裝 见見 观觀 规規 视視 览覽 触觸 计計 认認 让讓 议議 记記 讲講 许許 论論
设設 访訪 证證 评評 识識 诉訴 诊診 词詞 译譯 试試 话話 该該 详詳 语語 误誤 说說 请請 读讀 课課 谁誰 调調 谈談 谢謝 贝貝 负負 财財
责責 败敗 货貨 质質 贴貼 费費 资資 赋賦 赛賽 赶趕 跃躍 车車 轨軌 转轉 轮輪 软軟 轻輕 载載 较較 辅輔 辆輛 输輸 辑輯 边邊 达達 迁遷
过過 运運 还還 进進 远遠 违違 连連 迟遲 适適 选選 递遞 遗遺 邮郵 释釋 里裡 鉴鑑 针針 钥鑰 钮鈕 银銀 链鏈 销銷 锁鎖 错錯 键鍵 镜鏡
长長 阵陣 阶階 际際 陆陸 险險 随隨 隐隱 难難 雾霧 静靜 韩韓 页頁 项項 顺順 须須 顾顧 顿頓 预預 领領 频頻 题題 额額 风風 飞飛 馆館
驱驅 验驗 骤驟 鱼魚 鸟鳥 黄黃 龙龍 于於 与與 专專 业業 东東 丢丟 两兩 严嚴 丰豐 临臨 举舉 么麼 义義 乌烏 乐樂 习習 书書 买買 乱亂
争爭 亏虧 亚亞 产產 亲親 仅僅 从從 仓倉 仪儀 价價 众眾 优優 传傳 伤傷 伪偽 体體 余餘 侧側 侦偵 偿償 储儲 儿兒 兰蘭 兴興 养養 兽獸
内內 册冊 写寫 军軍 农農 冲衝 况況 净淨 减減 几幾 凭憑 击擊 划劃 则則 刚剛 创創 删刪 别別 剂劑 剥剝 剧劇 劝勸 动動 区區 医醫 华華
协協 单單 卖賣 卢盧 卫衛 却卻 压壓 厂廠 厅廳 历歷 县縣 参參 双雙 变變 叠疊 号號 叹嘆 吗嗎 启啟 后後 听聽 响響 并並 隶隸 残殘 讯訊 询詢 踪蹤 绘繪
绪緒 拦攔 栏欄 帧幀 尽盡 悬懸 潜潛 溃潰 碍礙 衔銜 觉覺 闪閃 账賬 纸紙 摄攝 抛拋 挤擠 毁毀 邻鄰 缀綴 坚堅 浅淺 筛篩 拥擁 扰擾 牵牽 烧燒 柜櫃
"""
SIMPLIFIED = {pair[0] for pair in PAIRS.split()}
TRADITIONAL = {pair[1] for pair in PAIRS.split()} | set("製準誌復")

# What a mainland guide says, in Traditional characters; and what a Taiwan guide says, in Simplified ones.
MAINLAND = """
顯卡 內核 軟件 硬件 固件 組件 插件 內存 顯存 默認 變量 環境變量 用戶 重啟 調度 日誌 文件 程序 進程 線程 信息 網絡 支持 通過 鏡像 服務器
設備 數據 加載 登錄 端口 接口 緩存 代碼 地址 總線 主板 運行 集成 分辨率 硬盤 創建 菜單 報錯 宿主機 客戶機 算子 張量核 兼容 打印 訪問
"""
TAIWAN = """
显示卡 驱动程式 程式 核心 套件 映像档 记忆体 预设 变数 群组 重新开机 排程 记录档 软体 硬体 韧体 档案 档名 资料 资讯 网路 支援 透过 伺服器
装置 位址 连接埠 介面 快取 载入 登入 行程 执行绪 函式 使用者 逾时 汇流排 作业系统 组建 执行个体 执行阶段 内建 印出 帐号 笔记型 回传
"""
INNOCENT = {"zh_CN": ("运行程序", "改变数"), "zh_TW": ("運算子",)}  # own words in which a foreign one seems to stand
FOREIGN_TERMS = {"zh_CN": TAIWAN.split(), "zh_TW": MAINLAND.split()}
FOREIGN_LETTERS = {"zh_CN": TRADITIONAL, "zh_TW": SIMPLIFIED}
CHARACTER_SETS = {"zh_CN": "gb2312", "zh_TW": "big5"}  # the plain sets of each script; neither holds the other's forms
FOREIGN_QUOTES = {"zh_CN": "「」『』", "zh_TW": "“”‘’"}

HAN = r"\u3400-\u9fff"
FULL = "。，、；：？！（）「」『』《》“”"
TIGHT = re.compile(rf"[{HAN}][!-~]|[!-~][{HAN}]")
LOOSE = re.compile(rf"[{HAN}{FULL}] +[{HAN}{FULL}]|[{FULL}] | [{FULL}]")
HALF = re.compile(rf"[{HAN}] *[,;:?!]|[,;:?!] *[{HAN}]")
CODE = re.compile(r"`[^`]*`")
ASKED = re.compile(r"\{\?[^}]*\}")  # what is asked for and not said


def own(language):
    """The rows of a language without those that stay English."""
    return {cause: row for cause, row in texts(language).items() if row.language != "en"}


def parts(language):
    """Every sentence of a language with its cause; code is put out of sight."""
    for cause, row in own(language).items():
        told = [*row.title, row.meaning, row.recognise, row.mends, row.in_vain, *row.meaning_where, *row.in_vain_where, *row.sources]
        yield from ((cause, CODE.sub("`x`", ASKED.sub("", text))) for text in told)


def badly_set(text):
    """Half-width marks beside Chinese, and blanks that are missing or too many."""
    return [hit[0] for pattern in (HALF, TIGHT, LOOSE) for hit in pattern.finditer(text)]


def outside(text, language):
    """Chinese characters that the plain character set of the script lacks."""
    return [letter for letter in re.findall(rf"[{HAN}]", text) if not letter.encode(CHARACTER_SETS[language], "ignore")]


def foreign(text, language):
    """Characters, terms and quotation marks of the other script's readers."""
    letters = (FOREIGN_LETTERS[language] | set(FOREIGN_QUOTES[language])) & set(text)
    for word in INNOCENT[language]:
        text = text.replace(word, "x")
    return sorted(letters) + [term for term in FOREIGN_TERMS[language] if term in text]


def test_both_have_as_many_rows_as_the_english():
    assert [set(own(language)) ^ set(ENGLISH) for language in LANGUAGES] == [set(), set()]


def test_neither_chinese_stands_in_for_the_other():
    assert tables.names("texts/zh/") == []
    assert [{row.language for row in own(language).values()} for language in LANGUAGES] == [{"zh_CN"}, {"zh_TW"}]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_are_set_as_chinese(language):
    assert [(cause, bad) for cause, text in parts(language) if (bad := badly_set(text))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_script_and_terms_are_the_readers_own(language):
    assert [(cause, bad) for cause, text in parts(language) if (bad := foreign(text, language))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_characters_are_those_of_the_plain_set(language):
    assert [(cause, bad) for cause, text in parts(language) if (bad := outside(text, language))] == []


@pytest.mark.parametrize(("text", "language"), [("驅動", "zh_CN"), ("驱动", "zh_TW")])
def test_characters_outside_the_plain_set_are_seen(text, language):
    assert outside(text, language) == list(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_end_and_titles_do_not(language):
    for cause, row in own(language).items():
        assert all(
            text.endswith("。") for text in (row.meaning, row.recognise, row.mends, row.in_vain, *row.meaning_where, *row.in_vain_where)
        ), cause
        assert not any(title.endswith(("。", ".")) for title in row.title), cause


@pytest.mark.parametrize(
    "text",
    ["重启,再试", "重启, 再试", "原因: 内核", "torch自带", "加载torch", "重启 （一次）", "内核 模块", "驱动， 内核", "{gpu.name}太旧"],
)
def test_bad_setting_is_seen(text):
    assert badly_set(text)


@pytest.mark.parametrize(
    "text", ["加载 torch，重启。", "`x`、`x`（CUDA 12）", "AtomicOpsCtl: ReqEn-。", "报“GPU is lost”：是", "{name} 太旧"]
)
def test_good_setting_is_left_alone(text):
    assert badly_set(text) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *((text, "zh_CN") for text in ("內核模块", "记忆体", "「内核」", "核心模块")),
        *((text, "zh_TW") for text in ("内核", "內核", "“核心”", "預設支持")),
    ],
)
def test_foreign_writing_is_seen(text, language):
    assert foreign(text, language)


def test_the_table_of_characters_contradicts_itself_nowhere():
    assert all(len(pair) == 2 for pair in PAIRS.split())
    assert not SIMPLIFIED & TRADITIONAL


@pytest.mark.parametrize(("text", "language"), [("内核模块占用显存", "zh_CN"), ("核心模組占用顯示記憶體", "zh_TW")])
def test_own_writing_is_left_alone(text, language):
    assert foreign(text, language) == []
