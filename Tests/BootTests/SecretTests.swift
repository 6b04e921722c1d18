import Boot
import Testing

@Suite struct ConnectionStringTests {
    @Test(arguments: [
        ("postgresql://h/d", "postgresql://h/d"), ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://u:p@w/x@h:5/d", "postgresql://u:********@h:5/d"),
        ("postgresql://u:@h", "postgresql://u:********@h"), ("postgres://:p@h", "postgres://:********@h"),
        (
            "postgresql://h:5,i:6/d?sslmode=require&password=p",
            "postgresql://h:5,i:6/d?sslmode=require&password=********"
        ),
        ("postgresql://h/d?application_name=a@b", "postgresql://h/d?application_name=a@b"),
        ("postgresql://h/d?password=p@w", "postgresql://h/d?password=********"),
        ("postgresql://h/d?%70assword=p&&pasword=q&r", "postgresql://h/d?********&&********&********"),
        ("postgresql://u:p?w@h/d", "postgresql://u:********"), ("postgresql://u:p", "postgresql://u:********"),
        ("postgresql://h:1,u:p:w/d", "postgresql://h:1,u:********/d"),
        ("postgresql://[::1]:5,[::1]/d", "postgresql://[::1]:5,[::1]/d"),
        ("host=h password=p user=u", "host=h password=******** user=u"),
        ("host=h password = 'p w' user=u", "host=h password=******** user=u"),
        (#"password='it''s' user=u"#, "password=******** ********"),
        (#"password=a\ b user='x y'"#, "password=******** user='x y'"),
        ("password=a://b host=h", "password=******** host=h"), ("host=h password='p", "host=h ********"),
        ("password=my secret host=h", "password=******** ********"), ("nonsense", "********"), ("", ""),
        ("mysql://h:1/d", "********"),
        ("host=/run/pg port=5432 dbname=d", "host=/run/pg port=5432 dbname=d"),
    ])
    func onlyWhatIsHarmlessIsShown(_ text: String, _ shown: String) {
        #expect(ConnectionString.masked(text) == shown)
    }

    /// Secrets are of capitals and of characters that mean something in a connection string; nothing else in the string
    /// has a capital, so none may be left.
    @Test func noPartOfAPasswordIsEverShown() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let secret = Self.secret(using: &random)
            for text in Self.texts(around: secret) {
                let shown = ConnectionString.masked(text)
                let showsSecret = shown.contains { $0.isUppercase }
                #expect(!showsSecret, "\(text) is shown as \(shown)")
            }
        }
    }

    private static func secret(using random: inout SystemRandomNumberGenerator) -> String {
        let alphabet = Array(#"ABCDEFG@:/?&='\%#"#)
        let length = Int.random(in: 0...8, using: &random)
        return "P" + String((0..<length).compactMap { _ in alphabet.randomElement(using: &random) }) + "W"
    }

    /// Well-formed strings with the secret, and strings whose author forgot to escape it.
    private static func texts(around secret: String) -> [String] {
        let quoted = String(secret.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] })
        let encoded = secret.map { $0.isUppercase ? "\($0)" : "%\(String($0.asciiValue ?? 0, radix: 16))" }.joined()
        return [
            "postgresql://me:\(encoded)@host:5432/db", "postgresql://host/db?password=\(encoded)&user=me",
            "postgresql://me:\(secret)@host:5432/db?sslmode=require", "postgresql://host/db?password=\(encoded)",
            "host=h password='\(quoted)' user=me", "password = '\(quoted)'", "host=h password=\(quoted) user=me",
            "host=h password=\(quoted)", "sslpassword='\(quoted)' host=h", "host=h passwort='\(quoted)'",
            "host=h password \(secret)", secret,
        ]
    }
}

@Suite struct SecretArgumentsTests {
    private let secrets = SecretArguments(of: [
        SharedSettings.databaseURL, SharedSettings.jwtSecret, SharedSettings.open,
    ])

    @Test func secretsMoveIntoTheEnvironment() throws {
        let result = try #require(
            self.secrets.separated(["up", "--jwt-secret", "s e", "--open", "--database-url=host=h", "--port", "1"]))
        #expect(result.arguments == ["up", "--open", "--port", "1"])
        #expect(result.environment == ["TOUCHSYNC_JWT_SECRET": "s e", "TOUCHSYNC_DATABASE_URL": "host=h"])
    }

    @Test(arguments: [
        [], ["--open"], ["--jwt-secret"], ["--jwt-secret", "--open"], ["--jwt-secret="],
        ["--jwt-secret", "a", "--jwt-secret", "b"], ["--jwt-secretive", "a"],
    ])
    func aLineWithoutSecretsOrWithAWrongOneStays(_ arguments: [String]) {
        #expect(self.secrets.separated(arguments) == nil)
    }
}
