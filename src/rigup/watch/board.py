"""Grafana's board, Prometheus' alert rules and its configuration for scraping, as files to give them."""

import json
from importlib import resources
from typing import Any

_PANELS = (
    ("GPU use", 'rigup_gpu_utilization_ratio{engine="gpu", instance=~"$instance"}', "percentunit"),
    (
        "Memory taken",
        'rigup_gpu_memory_used_bytes{kind=~"vram|unified", instance=~"$instance"} / rigup_gpu_memory_size_bytes',
        "percentunit",
    ),
    ("Power", 'rigup_gpu_power_watts{instance=~"$instance"}', "watt"),
    ("Hottest sensor", 'max by (instance, gpu) (rigup_gpu_temperature_celsius{instance=~"$instance"})', "celsius"),
    (
        "Time slowed down",
        'sum by (instance, gpu, reason) (rate(rigup_gpu_throttled_seconds_total{instance=~"$instance"}[$__rate_interval]))',
        "percentunit",
    ),
    ("Memory by user and job", 'sum by (user, job) (rigup_gpu_user_memory_bytes{instance=~"$instance"})', "bytes"),
    ("PCIe traffic", 'rigup_gpu_pcie_bytes_per_second{instance=~"$instance"}', "Bps"),
    ("Energy a day", 'sum by (instance) (increase(rigup_gpu_energy_joules_total{instance=~"$instance"}[1d])) / 3.6e6', "kwatth"),
)


def expressions() -> list[str]:
    """What the board asks Prometheus, with its variables filled in."""
    return [query.replace("$__rate_interval", "5m").replace("$instance", ".*") for _title, query, _unit in _PANELS]


def board() -> str:
    """The board as JSON for Grafana's import."""
    panels = [
        {
            "id": number + 1,
            "title": title,
            "type": "timeseries",
            "datasource": {"type": "prometheus", "uid": "${source}"},
            "gridPos": {"x": number % 2 * 12, "y": number // 2 * 8, "w": 12, "h": 8},
            "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
            "targets": [{"refId": "A", "expr": query, "legendFormat": "{{instance}} {{gpu}}{{user}} {{job}} {{reason}}{{direction}}"}],
        }
        for number, (title, query, unit) in enumerate(_PANELS)
    ]
    variables: list[dict[str, Any]] = [
        {"name": "source", "type": "datasource", "query": "prometheus"},
        {
            "name": "instance",
            "type": "query",
            "datasource": {"type": "prometheus", "uid": "${source}"},
            "multi": True,
            "includeAll": True,
            "query": "label_values(rigup_gpu_info, instance)",
            "refresh": 2,
        },
    ]
    content = {
        "title": "GPUs (rigup watch)",
        "uid": "rigup-watch",
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": variables},
        "panels": panels,
    }
    return json.dumps(content, indent=1)


def alerts() -> str:
    """Alert rules for Prometheus."""
    return resources.files("rigup.watch").joinpath("prometheus/alerts.yml").read_text(encoding="utf-8")


def scraping(port: int = 9836) -> str:
    """A part of Prometheus' configuration."""
    return f"scrape_configs:\n  - job_name: rigup\n    scrape_interval: 15s\n    static_configs:\n      - targets: ['localhost:{port}']\n"
