import Testing

@testable import OperatorDaemon

@Suite struct DoctorTests {
    private static func doctor(_ settings: [String]) -> Doctor {
        Doctor(
            catalog: .installed, folder: DataFolder("/tmp/touchsync-doctor"), port: 8080, gateways: 1, configPath: nil,
            databaseURL: nil, extra: settings)
    }

    @Test(arguments: [
        ([], Finding.Grade.ok), (["--host", "127.0.0.2"], .ok), (["--host", "0.0.0.0"], .warn),
        (["--host", "gateway.example.com"], .warn), (["--host", "10.0.0.1", "--trusted-proxies", "10.0.0.9"], .ok),
        (["--host", "10.0.0.1", "--tls-certificate", "/tmp/none.pem"], .fail),
    ])
    func plainTextOnANetworkIsWarnedOf(_ settings: [String], _ grade: Finding.Grade) {
        #expect(Self.doctor(settings).gatewayEncryption([:]).grade == grade)
    }

    /// The answer came after 0.1 s, so it may be that much off.
    @Test(arguments: [
        (nil, Finding.Grade.ok), (1000.05, .ok), (1000.35, .ok), (999.75, .ok), (1000.45, .warn), (999.65, .warn),
    ])
    func clocksThatDifferAreWarnedOf(_ there: Double?, _ grade: Finding.Grade) {
        #expect(DatabaseCheckup.clock(there, from: 1000, to: 1000.1).grade == grade)
    }

    @Test(
        arguments: [
            ("postgresql:///touchsync", [:], Finding.Grade.ok), ("host=/run/postgresql", [:], .ok),
            ("postgresql://u:p@localhost:5433/touchsync", [:], .ok), ("postgresql://127.0.0.1/touchsync", [:], .ok),
            ("postgresql://db.example.com/touchsync", [:], .warn), ("host=db sslmode=require", [:], .warn),
            ("host=db sslmode=verify-ca", [:], .warn), ("hostaddr=10.0.0.5", [:], .warn),
            ("postgresql://localhost,db.example.com/touchsync", [:], .warn),
            ("postgresql://db.example.com/touchsync?sslmode=verify-full", [:], .ok),
            ("host=db", ["PGSSLMODE": "verify-full"], .ok), ("dbname=touchsync", ["PGHOST": "db"], .warn),
            ("host=db sslmode=require", ["PGSSLMODE": "verify-full"], .warn),
        ] as [(String, [String: String], Finding.Grade)])
    func databaseThatIsNotVerifiedIsWarnedOf(_ url: String, _ environment: [String: String], _ grade: Finding.Grade) {
        #expect(Self.doctor([]).databaseEncryption(url, environment).grade == grade)
    }
}
