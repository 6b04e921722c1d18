// Made with Python's hmac, json and the package `cryptography`, none of it by the code under test. Issued at
// 1700000000, good for an hour; sub ana, name Ana, rooms {"r1":"commit","*":"view"}, iss and aud touchsync.
enum Golden {
    static let issuedAt: Int64 = 1_700_000_000
    static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

    private static let payload = """
        eyJzdWIiOiJhbmEiLCJuYW1lIjoiQW5hIiwicm9vbXMiOnsicjEiOiJjb21taXQiLCIqIjoidmlldyJ9LCJpc3MiOiJ0b3VjaHN5bmMiLCJhdW\
        QiOiJ0b3VjaHN5bmMiLCJpYXQiOjE3MDAwMDAwMDAsImV4cCI6MTcwMDAwMzYwMH0
        """
    static let hs256 = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\(payload).TtZSs6-PnJky-IAYCDgRYP1N05_79D41xRMIKFqQ810"
    static let es256 = """
        eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVjMSJ9.\(payload).\
        ntnU9sf5UYfB-FLqqaWkAgZruSWfj_j1oge6nNLSVsTiedAcss56li1v__t8IfOSJCDduxLMZ9fMAcR1-0aAHQ
        """
    static let eddsa = """
        eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.\(payload).\
        KBlGk5LC7NacVRr-r6tErKjoXkvrD2fLs7NpyZ1krd1P0wvw_qC0CGhdIhFmlJ0mQeuC5AU0V7TbpNlWlmnpDA
        """
    /// HS256 with the text of the Ed25519 public key's PEM as its secret.
    static let confused = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\(payload).fawylEc1G-F0pNshp1aXnIkc2Zl1SPgvrBZyPq3PUrI"

    static let jwkSet = """
        {"keys":[
          {"kty":"EC","crv":"P-256","kid":"ec1","alg":"ES256","use":"sig",
           "x":"MK9YsIfwGDQlIDwHKzpw6HHjuZvh9DxvxUGIQoEMQAE","y":"pfDrmUDZLzl63E2YSJPhHO2hLMA2HvQGkZa7WhQBHF4"},
          {"kty":"OKP","crv":"Ed25519","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40"}
        ]}
        """
    static let ecPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMK9YsIfwGDQlIDwHKzpw6HHjuZvh
        9DxvxUGIQoEMQAGl8OuZQNkvOXrcTZhIk+Ec7aEswDYe9AaRlrtaFAEcXg==
        -----END PUBLIC KEY-----

        """
    static let edPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAEZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40=
        -----END PUBLIC KEY-----

        """
    static let rsaPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArbxl9bWmWsO41oEK4X2B
        VJWqP+1Q7wb2ah4oV3cUMhULU+Uvjn3/pFmB85FJCrnSBc08w1s53+4KT8MYVYLV
        DXbkiloEhe6Ealv6hZWDHR2/C53VUrwNjMeeYkv37FbpkaFI5Qa6F8HK2i5/H+9P
        qev5J60fDSzW1HtnTPMCyjiRZglKdh1y27g7lfJmoeE47EJlqpzQVj+1571XKtsl
        I9NUVd4F1n4+ktGTeYuth9wmtBKofZ116ksD21ztRKyKb0DUO7jPobkKrNU4RtEl
        IeDRgJmF+6gZ1+P3Use+7lQ1PjCVeWLqBwdLcn8xMeuu+SdbjiDFKO5yoDFLYX5l
        7wIDAQAB
        -----END PUBLIC KEY-----

        """
}
