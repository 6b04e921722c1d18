import Canvas
import JSONBytes
import Testing

@Suite("Rules file")
struct RulesTableTests {
    @Test func theBuiltInTable() {
        #expect(rules.rules(for: "photo").lockedAspect)
        #expect((rules.rules(for: "photo").minScale, rules.rules(for: "photo").maxScale) == (0.2, 5))
        #expect(
            (rules.rules(for: "audio").minWidth, rules.rules(for: "audio").minHeight, rules.rules(for: "audio").rotates)
                == (120, 44, false))
        #expect(rules.rules(for: "video").minSide == 44)
        #expect(rules.rules(for: "text").fontSize == 12...72)
        #expect(rules.rules(for: "whatever") == TypeRules())
        #expect(rules.rules(for: "") == TypeRules())
        #expect(rules.rules(for: "Photo") == TypeRules())
    }

    @Test func whatIsWrittenReadsBackTheSame() throws {
        #expect(try RulesTable(json: json(text { rules.encode(into: &$0) })) == rules)
        let custom = try RulesTable(
            json: json(#"{"text":{"fontSize":null},"map":{"minScale":0.5,"rotates":false},"*":{"maxScale":20}}"#))
        #expect(try RulesTable(json: json(text { custom.encode(into: &$0) })) == custom)
        #expect(custom.rules(for: "text").fontSize == nil)
        #expect((custom.rules(for: "map").minScale, custom.rules(for: "map").maxScale) == (0.5, 20))
        #expect(custom.rules(for: "photo") == rules.rules(for: "photo"))
        #expect(custom.rules(for: "unknown").maxScale == 20)
    }

    @Test(arguments: [
        ("[]", ""), (#"{"photo":1}"#, "photo"), (#"{"photo":{"minscale":1}}"#, "photo.minscale"),
        (#"{"photo":{"minScale":0}}"#, "photo.minScale"),
        (#"{"photo":{"minScale":6}}"#, "photo.maxScale"), (#"{"photo":{"maxScale":1e300}}"#, "photo.maxScale"),
        (#"{"*":{"minSide":-1}}"#, "*.minSide"),
        (#"{"text":{"fontSize":{"min":9}}}"#, "text.fontSize.max"),
        (#"{"text":{"fontSize":{"min":9,"max":8}}}"#, "text.fontSize"),
        (#"{"photo":{"rotates":1}}"#, "photo.rotates"),
    ])
    func mistakesAreNamed(text: String, field: String) throws {
        let value = try json(text)
        #expect(refusedField { try RulesTable(json: value) } == field)
    }

    @Test(arguments: [
        ("[]", "{}"), (#"{"photo":1,"map":[]}"#, #"{"map":{}}"#),
        (#"{"photo":{"minScale":0.3,"corners":"round"}}"#, #"{"photo":{"minScale":0.3}}"#),
        (#"{"photo":{"minScale":6,"minSide":9}}"#, #"{"photo":{"minSide":9}}"#),
        (#"{"text":{"fontSize":{"min":9},"rotates":1,"minWidth":-1,"minSide":3}}"#, #"{"text":{"minSide":3}}"#),
        (#"{"*":{"minScale":0.5,"glow":1},"map":{"maxScale":2}}"#, #"{"*":{"minScale":0.5},"map":{"maxScale":2}}"#),
    ])
    func lenientReadingLeavesMistakesOut(text: String, known: String) throws {
        #expect(RulesTable(lenient: try json(text)) == (try RulesTable(json: json(known))))
    }

    @Test func lenientReadingKeepsAllTypes() throws {
        #expect(RulesTable(lenient: try json(text { rules.encode(into: &$0) })) == rules)
    }
}
