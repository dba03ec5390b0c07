"""Every setting of Baza, in one frozen object with a section per concern.

In: a mapping of environment variables (`.env` is read by the caller). Out: `Settings`, or `SettingsError` with one
sentence a line that names the variable. Nothing is read at import time. Each variable is explained in `.env.example`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, model_validator

_TOKEN = re.compile(r"\d+:[\w-]+")


class SettingsError(Exception):
    """A setting is wrong; each line of the message names the variable and says what it should be."""


def _split_at(sign: str) -> BeforeValidator:
    """`"12, 34"` -> `["12", "34"]`; `"rus+eng"`, as tesseract writes languages."""

    def split(value: object) -> object:
        return [part.strip() for part in value.split(sign) if part.strip()] if isinstance(value, str) else value

    return BeforeValidator(split)


def _address(value: object) -> object:
    """Removes the trailing slash. Raises ValueError unless the address begins with http:// or https://."""
    if isinstance(value, str) and not value.startswith(("http://", "https://")):
        raise ValueError("should begin with http:// or https://")
    return value.rstrip("/") if isinstance(value, str) else value


def _token(value: object) -> object:
    """aiogram would reject a bad token only later, and without naming the variable."""
    if isinstance(value, str) and not _TOKEN.fullmatch(value):
        raise ValueError("should look like 123456789:AAE…, as @BotFather gives it")
    return value


Ids = Annotated[frozenset[int], _split_at(",")]
Address = Annotated[str, BeforeValidator(_address)]
Language = Literal["ru", "en"]


class Section(BaseModel):
    """Fields are read by their variable's name; a variable set to nothing counts as not set."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=False)


class TelegramSettings(Section):
    """Where people talk to the bot, and who may."""

    token: Annotated[SecretStr | None, BeforeValidator(_token)] = Field(None, alias="BOT_TOKEN")
    api_url: Address | None = Field(None, alias="TELEGRAM_API_URL")
    webhook_url: Address | None = Field(None, alias="WEBHOOK_URL")
    webhook_secret: SecretStr | None = Field(None, alias="WEBHOOK_SECRET")
    webhook_host: str = Field("127.0.0.1", alias="WEBHOOK_HOST")
    webhook_port: int = Field(8080, alias="WEBHOOK_PORT", ge=1, le=65535)
    allowed_users: Ids = Field(frozenset(), alias="ALLOWED_USERS")
    admin_users: Ids = Field(frozenset(), alias="ADMIN_USERS")
    messages_per_minute: int = Field(40, alias="MESSAGES_PER_MINUTE", ge=1)
    shutdown_s: float = Field(20, alias="SHUTDOWN_SECONDS", ge=0)

    @model_validator(mode="after")
    def _webhook_is_guarded(self) -> Self:
        if self.webhook_url and not self.webhook_secret:
            raise ValueError("WEBHOOK_SECRET: is required with WEBHOOK_URL, so that only Telegram can call the webhook")
        return self


class BoundSettings(Section):
    """What one person may cost the host, and how large a base may grow; 0: no bound."""

    person_cost: float = Field(0, alias="PERSON_DAILY_COST", ge=0)
    person_questions: int = Field(0, alias="PERSON_DAILY_QUESTIONS", ge=0)
    base_passages: int = Field(0, alias="BASE_PASSAGES", ge=0)
    person_waiting: int = Field(300, alias="PERSON_WAITING", ge=0)  # documents in the queue; it bounds no cost

    @property
    def named(self) -> tuple[str, ...]:
        """The bounds of costs that are set, as `PERSON_DAILY_COST=0.2`."""
        values = self.model_dump(by_alias=True, exclude={"person_waiting"})
        return tuple(f"{name}={value}" for name, value in values.items() if value)


class LocalChatSettings(Section):
    """The stand-in for Telegram on this machine; used when there is no BOT_TOKEN."""

    port: int = Field(8090, alias="LOCALCHAT_PORT", ge=0, le=65535)  # 0: any free port


class DatabaseSettings(Section):
    """Supabase, a PostgreSQL, or (neither set) the embedded one."""

    url: SecretStr | None = Field(None, alias="DATABASE_URL")
    supabase_url: Address | None = Field(None, alias="SUPABASE_URL")
    supabase_key: SecretStr | None = Field(None, alias="SUPABASE_SERVICE_KEY")
    pool_size: int = Field(8, alias="DATABASE_POOL_SIZE", ge=1, le=100)
    timeout_s: float = Field(30, alias="DATABASE_TIMEOUT_SECONDS", gt=0)
    segment_mb: int = Field(256, alias="SEGMENT_MEMORY_MB", ge=0)  # enough for two million passages of large bases

    @model_validator(mode="after")
    def _supabase_is_whole(self) -> Self:
        if bool(self.supabase_url) != bool(self.supabase_key):
            missing = "SUPABASE_SERVICE_KEY" if self.supabase_url else "SUPABASE_URL"
            raise ValueError(f"{missing}: is missing; Supabase needs SUPABASE_URL and SUPABASE_SERVICE_KEY together")
        return self


class JinaSettings(Section):
    """Embeddings and reranking by Jina; without a key a local model serves, or none."""

    api_key: SecretStr | None = Field(None, alias="JINA_API_KEY")
    base_url: Address = Field("https://api.jina.ai/v1", alias="JINA_BASE_URL")
    embedding_model: str = Field("jina-embeddings-v3", alias="JINA_EMBEDDING_MODEL")
    reranker_model: str = Field("jina-reranker-v2-base-multilingual", alias="JINA_RERANKER_MODEL")
    tier: Literal["free", "paid", "premium"] = Field("free", alias="JINA_TIER")
    million_cost: float = Field(0, alias="JINA_MILLION_TOKENS_COST", ge=0)  # US dollars; 0: not counted
    concurrency: int | None = Field(None, alias="JINA_CONCURRENCY", ge=1, le=500)  # None: as the tier allows
    timeout_s: float = Field(60, alias="JINA_TIMEOUT_SECONDS", gt=0)


class LocalModelSettings(Section):
    """Search models that run on this machine, used without a Jina key."""

    embedding_model: str | None = Field(None, alias="LOCAL_EMBEDDING_MODEL")
    reranker_model: str | None = Field(None, alias="LOCAL_RERANKER_MODEL")
    context_tokens: int = Field(2048, alias="LOCAL_CONTEXT_TOKENS", ge=64, le=32768)
    late_chunking: bool | None = Field(None, alias="LOCAL_LATE_CHUNKING")  # None: if the model is made for it
    threads: int = Field(0, alias="LOCAL_THREADS", ge=0, le=256)  # 0: one per core


class ModelSettings(Section):
    """The chat model: any OpenAI-compatible server."""

    api_key: SecretStr | None = Field(None, alias="LLM_API_KEY")
    base_url: Address = Field("https://openrouter.ai/api/v1", alias="LLM_BASE_URL")
    planner_model: str | None = Field(None, alias="PLANNER_MODEL")  # None: the answer model
    planner_temperature: float = Field(0.0, alias="PLANNER_TEMPERATURE", ge=0, le=2)
    planner_max_tokens: int = Field(1000, alias="PLANNER_MAX_TOKENS", ge=200)
    reading_max_tokens: int = Field(4000, alias="READING_MAX_TOKENS", ge=1000)  # of one reading of a document part
    answer_model: str = Field("openai/gpt-4.1", alias="ANSWER_MODEL")
    answer_temperature: float = Field(0.3, alias="ANSWER_TEMPERATURE", ge=0, le=2)
    answer_max_tokens: int = Field(1500, alias="ANSWER_MAX_TOKENS", ge=64)
    checker_model: str | None = Field(None, alias="CHECKER_MODEL")  # None: the planner's
    checker_max_tokens: int = Field(3000, alias="CHECKER_MAX_TOKENS", ge=500)
    fallback_model: str | None = Field(None, alias="FALLBACK_MODEL")  # asked when the others are unavailable
    timeout_s: float = Field(60, alias="LLM_TIMEOUT_SECONDS", gt=0)

    @property
    def configured(self) -> bool:
        """Whether an address or a key was given."""
        return self.api_key is not None or "base_url" in self.model_fields_set


class AnswerSettings(Section):
    """How a question is searched and answered."""

    answer_language: Literal["ru", "en", "auto"] = Field("ru", alias="ANSWER_LANGUAGE")
    general_knowledge: bool = Field(True, alias="GENERAL_KNOWLEDGE")
    candidates: int = Field(30, alias="SEARCH_CANDIDATES", ge=1, le=500)
    passages: int = Field(20, alias="SEARCH_PASSAGES", ge=1, le=50)
    window_pairs: int = Field(15, alias="DIALOGUE_PAIRS", ge=0, le=15)
    prompt_tokens: int = Field(12000, alias="PROMPT_TOKENS", ge=1000)
    interface_language: Language = Field("ru", alias="DEFAULT_LANGUAGE")
    answer_check: Literal["model", "rules", "off"] = Field("model", alias="ANSWER_CHECK")
    search_policy: Literal["planned", "explicit"] = Field("planned", alias="SEARCH_POLICY")
    plan_threshold: float = Field(0.5, alias="PLAN_CONFIDENCE_THRESHOLD", ge=0, le=1)
    tool_calls: int = Field(4, alias="MAX_TOOL_CALLS", ge=1, le=8)
    plan_steps: int = Field(12, alias="MAX_PLAN_STEPS", ge=1, le=50)
    model_calls: int = Field(60, alias="MAX_MODEL_CALLS", ge=1)
    turn_tokens: int = Field(300_000, alias="MAX_TURN_TOKENS", ge=1000)
    turn_s: float = Field(240, alias="MAX_TURN_SECONDS", gt=0)
    turn_cost: float = Field(0.5, alias="MAX_TURN_COST", gt=0)


class WorkerSettings(Section):
    """How documents are read."""

    concurrency: int = Field(4, alias="WORKER_CONCURRENCY", ge=1, le=64)
    long_concurrency: int = Field(2, alias="WORKER_LONG", ge=0, le=64)
    lease_s: int = Field(60, alias="WORKER_LEASE_SECONDS", ge=2)
    poll_s: float = Field(1.0, alias="WORKER_POLL_SECONDS", gt=0)
    attempts: int = Field(16, alias="WORKER_ATTEMPTS", ge=1)  # about six hours with the pauses below
    backoff_s: float = Field(5, alias="WORKER_BACKOFF_SECONDS", gt=0)  # doubled at each retry, one hour at most
    file_mb: int = Field(100, alias="MAX_FILE_MB", ge=1, le=2000)
    page_mb: int = Field(10, alias="MAX_PAGE_MB", ge=1, le=200)
    fetch_s: float = Field(30, alias="FETCH_SECONDS", gt=0)
    crawl_depth: int = Field(2, alias="CRAWL_DEPTH", ge=0, le=10)
    crawl_pages: int = Field(50, alias="CRAWL_PAGES", ge=1, le=1000)
    crawl_s: float = Field(120, alias="CRAWL_SECONDS", gt=0)
    parse_s: float = Field(60, alias="PARSE_SECONDS", gt=0)
    parse_mb: int = Field(1024, alias="PARSE_MEMORY_MB", ge=128)
    process_mb: int = Field(0, alias="PROCESS_MEMORY_MB", ge=0)  # 0: most of what there is
    chunk_tokens: int = Field(300, alias="CHUNK_TOKENS", ge=50, le=2000)
    overlap_tokens: int = Field(40, alias="CHUNK_OVERLAP_TOKENS", ge=0, le=500)
    entity_model: bool = Field(True, alias="ENTITY_MODEL")  # one call of the planner model per part of a document
    # "127.0.0.1:8000": internal addresses that the crawler may reach nevertheless; for tests
    fetch_allow_hosts: Annotated[frozenset[str], _split_at(",")] = Field(frozenset(), alias="FETCH_ALLOW_HOSTS")

    @model_validator(mode="after")
    def _overlap_fits(self) -> Self:
        if self.overlap_tokens >= self.chunk_tokens:
            raise ValueError("CHUNK_OVERLAP_TOKENS: should be less than CHUNK_TOKENS")
        return self


class RecognitionSettings(Section):
    """How text in images is recognised: photos, and PDF pages without a text layer."""

    mode: Literal["auto", "tesseract", "vision", "off"] = Field("auto", alias="OCR")
    languages: Annotated[tuple[str, ...], _split_at("+")] = Field(("rus", "eng"), alias="OCR_LANGUAGES")
    pages: int = Field(300, alias="OCR_PAGES", ge=1)
    concurrency: int | None = Field(None, alias="OCR_CONCURRENCY", ge=1, le=64)  # None: as many as cores
    page_s: float = Field(120, alias="OCR_PAGE_SECONDS", ge=1)
    vision_model: str | None = Field(None, alias="VISION_MODEL")


class SpeechSettings(Section):
    """How recordings are transcribed, and the limits for videos behind links."""

    model: str | None = Field(None, alias="WHISPER_MODEL")  # None: recordings are not read
    language: str = Field("auto", alias="SPEECH_LANGUAGE", pattern=r"^(auto|[a-z]{2,3})$")
    threads: int = Field(0, alias="WHISPER_THREADS", ge=0, le=256)  # 0: one per core, eight at most
    memory_mb: int = Field(6144, alias="WHISPER_MEMORY_MB", ge=512)
    idle_s: float = Field(300, alias="WHISPER_IDLE_SECONDS", gt=0)
    minutes: int = Field(240, alias="AUDIO_MINUTES", ge=1)
    video_mb: int = Field(200, alias="MAX_VIDEO_MB", ge=1, le=2000)
    video_s: float = Field(900, alias="VIDEO_SECONDS", gt=0)


class LogSettings(Section):
    """Where the log goes."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", alias="LOG_LEVEL")
    format: Literal["text", "json"] = Field("text", alias="LOG_FORMAT")
    destination: Literal["file", "stderr"] = Field("file", alias="LOG_TO")


class MetricsSettings(Section):
    """Where Prometheus reads this process's metrics."""

    port: int = Field(0, alias="METRICS_PORT", ge=0, le=65535)  # 0: nowhere
    host: str = Field("127.0.0.1", alias="METRICS_HOST")


class ApiSettings(Section):
    """Where programs reach bases over HTTP."""

    port: int | None = Field(None, alias="API_PORT", ge=0, le=65535)  # 0: nowhere; None: beside the local chat only
    host: str = Field("127.0.0.1", alias="API_HOST")
    requests_per_minute: int = Field(120, alias="API_REQUESTS_PER_MINUTE", ge=1)  # of one token
    upload_mb: int = Field(2000, alias="API_UPLOAD_MB_PER_DAY", ge=1)  # of one token
    daily_cost: float = Field(0.0, alias="API_DAILY_COST", ge=0)  # US dollars in 24 hours, of one token; 0: no bound
    kept_mb: int = Field(5000, alias="API_KEPT_MB", ge=1)  # files of one base


class Settings(BaseModel):
    """All sections. Build it with `Settings.read`."""

    model_config = ConfigDict(frozen=True)

    home: Path
    telegram: TelegramSettings
    bounds: BoundSettings
    localchat: LocalChatSettings
    database: DatabaseSettings
    jina: JinaSettings
    local: LocalModelSettings
    model: ModelSettings
    answer: AnswerSettings
    worker: WorkerSettings
    recognition: RecognitionSettings
    speech: SpeechSettings
    log: LogSettings
    metrics: MetricsSettings
    api: ApiSettings

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Check `environment` and build the settings. Raises SettingsError naming every wrong variable."""
        given = {name: value.strip() for name, value in environment.items() if value.strip()}
        try:
            return cls.model_validate({"home": home_of(given), **dict.fromkeys(sections(), given)})
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
        sentences = []
        for problem in problems:  # {"loc": ("jina", "JINA_CONCURRENCY"), "msg": "Input should be …"}
            message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
            sentences.append(": ".join([*map(str, problem["loc"][1:2]), message]))
        raise SettingsError("\n".join(sentences))


def sections() -> dict[str, type[Section]]:
    """By their names; each reads the whole environment."""
    kinds = {name: field.annotation for name, field in Settings.model_fields.items()}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Section)}


def home_of(environment: Mapping[str, str]) -> Path:
    """BAZA_HOME, or where the system keeps such data."""
    named = environment.get("BAZA_HOME", "").strip()
    return (Path(named).expanduser() if named else user_data_path("baza")).absolute()


def secret_variables() -> frozenset[str]:
    """Names of the variables that hold a `SecretStr`."""
    fields = (field for section in sections().values() for field in section.model_fields.values())
    return frozenset(str(field.alias) for field in fields if SecretStr in get_args(field.annotation))
