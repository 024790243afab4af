"""Connections to one target, made as its configuration says and in no other way.

Nothing else gets in from the user's environment: no `.netrc` (it would replace the token and make all tenants
one), no authorities named by variables, no cookies. Redirects are never followed.
"""

from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from cctest.target.deadline import POOLS
from cctest.target.proxy import Proxy
from cctest.target.tls import Tls


def open_session(tls: Tls, proxy: Proxy | None) -> requests.Session:
    """Make the connections of one thread; none is opened yet."""
    session = _Session()
    session.trust_env = False
    session.headers.clear()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.verify = tls.verify
    session.cert = tls.certificate
    if proxy is not None:
        session.proxies = {"http": proxy.url, "https": proxy.url}
    if tls.insecure:
        # We say it ourselves, once and louder; this would say it with every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    for prefix in ("http://", "https://"):
        session.mount(prefix, _Adapter(max_retries=0))
    return session


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Never look where a redirect points; `requests` would read its whole body, unbounded, to do so."""


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **settings: Any) -> None:
        super().init_poolmanager(*args, **settings)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **settings)
        manager.pool_classes_by_scheme = POOLS
        return manager
