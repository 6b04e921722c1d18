"""Certificates that tests make for themselves."""

import dataclasses
import pathlib
import ssl
import subprocess


@dataclasses.dataclass
class Certificate:
    """A certificate that vouches for itself, and its key; files in PEM."""

    certificate: pathlib.Path
    key: pathlib.Path

    @classmethod
    def make(cls, folder, name="server", addresses=("127.0.0.1",)):
        """A new one for some addresses and localhost, by openssl, as NAME.pem and NAME.key."""
        names = ",".join(["DNS:localhost", *(f"IP:{address}" for address in addresses)])
        made = cls(folder / f"{name}.pem", folder / f"{name}.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "30", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}", "-keyout",
             str(made.key), "-out", str(made.certificate)], check=True, capture_output=True, timeout=30)
        made.key.chmod(0o600)
        return made

    def copy(self, other):
        """Takes the place of another one: the certificate first, then the key, each by renaming."""
        for source, target in ((self.certificate, other.certificate), (self.key, other.key)):
            draft = target.with_name("draft")
            draft.touch(mode=0o600)
            draft.write_bytes(source.read_bytes())
            draft.rename(target)

    @property
    def der(self):
        return ssl.PEM_cert_to_DER_cert(self.certificate.read_text())

    def context(self):
        """What a client trusts that knows this certificate only."""
        return ssl.create_default_context(cafile=str(self.certificate))
