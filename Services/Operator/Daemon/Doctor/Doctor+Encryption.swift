internal import Boot
internal import GatewayDaemon
internal import Postgres
internal import Stages

/// What travels in plain text, or to a server that nobody verified.
extension Doctor {
    /// How apps' connections are encrypted.
    func gatewayEncryption(_ environment: [String: String]) -> Finding {
        let values = self.resolver(.gateway, environment).values
        let host = values.text(ofSetting: "host") ?? "127.0.0.1"
        do throws(SettingProblem) {
            if let tls = try TLSSettings(values) { return self.certificate(tls.expiry) }
        } catch {
            return .fail("encryption", error.description, "gateways will not start; repair it at the place named")
        }
        if Loopback.contains(host) { return .ok("encryption", "none; \(host) is loopback") }
        if !values[GatewaySettings.trustedProxies].isEmpty {
            return .ok("encryption", "none by gateways; the proxies of trusted-proxies are in front of them")
        }
        return .warn(
            "encryption", "gateways speak plain text on \(host): others on the network can read tokens",
            "set tls-certificate and tls-key, or name the proxy that speaks TLS for them in trusted-proxies")
    }

    private func certificate(_ expiry: Int) -> Finding {
        let days = (expiry - Int(WallClock.seconds())) / 86_400
        if expiry < WallClock.seconds() {
            return .warn("encryption", "the certificate has expired: apps refuse to connect", "renew it")
        }
        guard days < 14 else { return .ok("encryption", "TLS; the certificate is valid for \(days) days") }
        return .warn(
            "encryption", "the certificate expires in \(days) days", "renew it; gateways read it by themselves")
    }

    /// Whether daemons know whom they send the database's password and everything else.
    func databaseEncryption(_ url: String, _ environment: [String: String]) -> Finding {
        do {
            let hosts = try ServerVerification.unverifiedHosts(url, environment: environment)
                .filter { !Loopback.contains($0) }
            guard let host = hosts.first else {
                return .ok("database TLS", "on this machine, or verified (sslmode=verify-full)")
            }
            return .warn(
                "database TLS", "others on the network can pretend to be \(host), or read along",
                "add sslmode=verify-full and sslrootcert=FILE to the connection string")
        } catch {
            return .fail("database TLS", "\(error)", "repair the connection string")
        }
    }
}
