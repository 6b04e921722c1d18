import Canvas
import Testing

@Suite("Creating and updating under the rules")
struct CreateTests {
    @Test("defaults: position 0,0, size 100 × 100, rotation 0, scale 1, anchor 0.5,0.5")
    func defaults() throws {
        let (element, adjusted) = try created("note")
        #expect(adjusted.isEmpty)
        #expect(element == Element(id: "e1", type: "note", createdBy: "ann"))
        #expect((element.width, element.height, element.rev) == (100, 100, 1))
        #expect((element.createdBy, element.updatedBy) == ("ann", "ann"))
    }

    @Test("width and height are the drawn size: original = width / |scale| as sent")
    func drawnSize() throws {
        let (element, adjusted) = try created("note", #""width":300,"height":50,"scaleX":-2,"scaleY":0.5"#)
        #expect(adjusted.isEmpty)
        #expect((element.originalWidth, element.originalHeight) == (150, 100))
        #expect((element.width, element.height) == (300, 50))
        #expect(element.scaleX == -2)
    }

    @Test func anOriginalSizeThatIsGivenStandsAndWidthIsAHint() throws {
        let (element, adjusted) = try created(
            "note", #""width":300,"originalWidth":100,"originalHeight":40,"scaleX":2"#)
        #expect((element.originalWidth, element.originalHeight) == (100, 40))
        #expect(adjusted == [adjustment("width", 300, 200, .computed)])
    }

    @Test("a scale out of range shrinks what is drawn: original is made from the scale as sent")
    func scaleOutOfRange() throws {
        let (element, adjusted) = try created("note", #""width":100,"scaleX":20"#)
        #expect(element.originalWidth == 5)
        #expect(adjusted == [adjustment("scaleX", 20, 10, .range), adjustment("width", 100, 50, .computed)])
    }

    @Test func aScaleOf0DividesNothing() throws {
        for scale in ["0", "-0", "0.0", "1e-320"] {
            let (element, _) = try created(
                "note", "\"width\":100,\"height\":100,\"scaleX\":\(scale),\"scaleY\":\(scale)")
            #expect((element.width, element.height) == (100, 100))
            #expect((element.scaleX, element.scaleY) == (0.1, 0.1))
        }
    }

    @Test("aspect lock compares with scale 1; the overruled axis and its size hint are adjusted")
    func aspect() throws {
        let (element, adjusted) = try created("photo", #""scaleX":2,"scaleY":3,"width":200,"height":300"#)
        #expect((element.scaleX, element.scaleY) == (3, 3))
        #expect((element.originalWidth, element.originalHeight) == (100, 100))
        #expect(adjusted == [adjustment("scaleX", 2, 3, .aspect), adjustment("width", 200, 300, .computed)])
        let (one, none) = try created("photo", #""scaleY":2"#)
        #expect((one.scaleX, one.scaleY) == (2, 2))
        #expect(none.isEmpty)
    }

    @Test("fontSize of a text is 12–72, of anything else as sent")
    func fontSize() throws {
        #expect(try created("text", #""fontSize":8"#).1 == [adjustment("fontSize", 8, 12, .range)])
        #expect(try created("text", #""fontSize":100"#).0.fontSize == 72)
        #expect(try created("text", #""fontSize":12"#).1.isEmpty)
        #expect(try created("text").0.fontSize == nil)
        #expect(try created("note", #""fontSize":100"#).0.fontSize == 100)
    }

    @Test("snapDegrees over 180 is clamped, and snaps the rotation at once")
    func snapDegrees() throws {
        let (element, adjusted) = try created("note", #""snapDegrees":400,"rotation":100"#)
        #expect(element.snapDegrees == 180)
        #expect(element.rotation == 180)
        #expect(adjusted == [adjustment("snapDegrees", 400, 180, .range), adjustment("rotation", 100, 180, .snap)])
    }

    @Test func anythingAbsurdIsClampedToSomethingFinite() throws {
        let (element, adjusted) = try created(
            "photo",
            #""positionX":1e308,"width":1e308,"height":1e-308,"scaleX":1e308,"scaleY":10,"anchorX":-1e300,"bounds":{"x":-1e308,"y":1e308,"width":1e308,"height":0},"originalHeight":1e308"#
        )
        #expect((element.positionX, element.positionY) == (1e9, 1e9))
        #expect(element.anchorX == -1000)
        #expect(element.originalHeight == 1e9)
        #expect(element.width.isFinite && element.height.isFinite)
        #expect(adjusted.allSatisfy { $0.stored.isFinite })
        let (video, _) = try created("video", #""width":1e-308,"height":1e-308"#)
        #expect(video.width >= 44 && video.width.isFinite)
    }

    @Test("update: sets options and own fields, and moves nothing")
    func update() throws {
        var (element, _) = try created("text", #""positionX":500,"rotation":10,"content":"a","color":"red""#)
        let changes = try ElementChanges(
            json(
                #"{"fontSize":5,"locked":true,"snapDegrees":45,"bounds":{"x":0,"y":0,"width":10,"height":10},"zIndex":-2.5,"content":"b","new":null}"#
            ))
        #expect(rules.apply(changes, to: &element) == [adjustment("fontSize", 5, 12, .range)])
        #expect((element.positionX, element.rotation) == (500, 10))
        #expect((element.fontSize, element.locked, element.snapDegrees, element.zIndex) == (12, true, 45, -2.5))
        #expect(element.bounds == Bounds(x: 0, y: 0, width: 10, height: 10))
        #expect(element.extra == [ExtraField(name: "content", json: Array(#""b""#.utf8)), color])
    }

    private var color: ExtraField { ExtraField(name: "color", json: Array(#""red""#.utf8)) }

    @Test func anUpdateRemovesWhatIsNull() throws {
        let options = #""snapDegrees":9,"bounds":{"x":0,"y":0,"width":1,"height":1},"fontSize":20,"zIndex":1,"#
        var (element, _) = try created("text", options + #""content":{"a":null},"color":"red""#)
        let one = try ElementChanges(json(#"{"snapDegrees":null,"content":null,"new":null}"#))
        #expect(rules.apply(one, to: &element) == [])
        #expect((element.snapDegrees, element.fontSize, element.extra) == (nil, 20, [self.color]))
        let all = try ElementChanges(json(#"{"bounds":null,"fontSize":null,"zIndex":null,"color":null}"#))
        for _ in 1...2 {
            #expect(rules.apply(all, to: &element) == [])
            #expect(element == (try created("text").0))
        }
    }

    @Test func whatAnUpdateRemovesMakesSpaceForWhatItAdds() throws {
        let fields = (0..<64).map { "\"f\($0)\":1" }.joined(separator: ",")
        var (element, _) = try created("note", fields)
        let half = (0..<40).map { "\"f\($0)\":null,\"g\($0)\":1" }.joined(separator: ",")
        let changes = try ElementChanges(json("{\(half)}"))
        try changes.check(on: element)
        _ = rules.apply(changes, to: &element)
        #expect(element.extra.count == 64 && element.extra.first?.name == "f40")
    }

    @Test("a resized element keeps its scales, its anchor's position and its type's smallest size")
    func resize() throws {
        func changes(_ set: String) throws -> ElementChanges { try ElementChanges(json(set)) }
        var (element, _) = try created("audio", #""originalWidth":300,"originalHeight":100,"scaleX":-0.5"#)
        #expect(rules.apply(try changes(#"{"originalWidth":400}"#), to: &element) == [])
        #expect((element.width, element.height, element.scaleX, element.positionX) == (200, 50, -0.5, 0))
        let adjusted = rules.apply(try changes(#"{"originalWidth":10,"originalHeight":1e300}"#), to: &element)
        #expect(
            adjusted == [
                adjustment("originalWidth", 10, 240, .size), adjustment("originalHeight", 1e300, 1e9, .range),
            ])
        #expect((element.width, element.originalHeight) == (120, 1e9))
        // A scale that only the smallest size had raised above the largest one returns to it.
        (element, _) = try created("audio", #""originalWidth":10,"originalHeight":100"#)
        #expect((element.scaleX, element.width) == (12, 120))
        #expect(rules.apply(try changes(#"{"originalWidth":200}"#), to: &element) == [])
        #expect((element.scaleX, element.scaleY, element.width) == (3, 3, 600))
        element.scaleX = 1e-12
        #expect(rules.apply(try changes(#"{"originalWidth":1}"#), to: &element).map(\.stored) == [1e9])
        #expect(try changes(#"{"originalWidth":1}"#).respectsLock)
        #expect(try changes(#"{"originalWidth":1,"locked":true}"#).respectsLock)
        #expect(try !changes(#"{"originalWidth":1,"locked":false}"#).respectsLock)
        #expect(try !changes(#"{"zIndex":null,"locked":true}"#).respectsLock)
    }

    @Test("update: extra fields over 8 KiB in total are too large, and not taken")
    func updateTooLarge() throws {
        let half = String(repeating: "x", count: 5000)
        var (element, _) = try created("note", "\"a\":\"\(half)\"")
        let changes = try ElementChanges(json("{\"b\":\"\(half)\"}"))
        #expect(
            throws: FieldError(
                field: "set", message: "An element's own fields have at most 8192 bytes.", tooLarge: true)
        ) {
            try changes.check(on: element)
        }
        let before = element
        _ = rules.apply(changes, to: &element)
        #expect(element == before)
        let replaced = try ElementChanges(json("{\"a\":\"\(half)\"}"))
        try replaced.check(on: element)
        var many = ElementChanges()
        many.extra = (0..<64).map { ExtraField(name: "f\($0)", json: [0x31]) }
        let error = #expect(throws: FieldError.self) { try many.check(on: element) }
        #expect(error?.message == "An element has at most 64 own fields.")
    }

    private func picture(_ length: Int, _ start: String = "data:image/png;base64,") -> String {
        "\"picture\":\"\(start)\(String(repeating: "A", count: length - start.utf8.count))\""
    }

    @Test func aPictureHasALimitOfItsOwn() throws {
        let most = CanvasLimits.pictureBytes
        let words = "\"title\":\"\(String(repeating: "x", count: 8000))\""
        var (element, _) = try created("photo", self.picture(most) + "," + words)
        try ElementChanges(json(#"{"title":"x"}"#)).check(on: element)
        _ = try created("photo", self.picture(9000, #"data:image\/png;base64,"#))
        let tooLong = FieldError(
            field: "element.picture", message: "A picture has at most 196608 bytes.", tooLarge: true)
        #expect(throws: tooLong) {
            try NewElement(json("{\"type\":\"photo\",\(self.picture(most + 1))}"), path: "element")
        }
        // Only a data URL of an image, and only as `picture`; all else is as small as before.
        for other in [
            self.picture(9000).replacing("picture", with: "thumbnail"),
            "\"picture\":[\(self.picture(9000).dropFirst(10))]",
        ] {
            let photo = try json("{\"type\":\"photo\",\(other)}")
            #expect(refusedField { try NewElement(photo, path: "element") } == "element")
        }
        let more = try ElementChanges(json("{\"more\":\"\(String(repeating: "x", count: 300))\"}"))
        #expect(refusedField { try more.check(on: element) } == "set")
        // A server may allow less: only for a picture that is set, and never less than all own fields may have.
        let change = try ElementChanges(json("{\(self.picture(20_001))}"))
        #expect(
            throws: FieldError(field: "set.picture", message: "A picture has at most 20000 bytes.", tooLarge: true)
        ) { try change.check(on: element, pictureBytes: 20_000) }
        try change.check(on: element, pictureBytes: 20_001)
        try ElementChanges(json(#"{"title":"x"}"#)).check(on: element, pictureBytes: 0)
        (element, _) = try created("photo")
        try ElementChanges(json("{\(self.picture(8000))}")).check(on: element, pictureBytes: 0)
        #expect(refusedField { try change.check(on: element, pictureBytes: 0) } == "set")
    }

    /// Other programs load what a picture names.
    @Test(arguments: [
        "coast", "", ":", "7:5", "a picture: of us", "data:image/svg+xml,x", "DATA:IMAGE/png;base64,AA",
        "https://a.example/a.png",
        "HTTPS://a", "http://localhost/a", "http://127.0.0.1:8000/a", "http://[::1]:1", "//a.example/a.png", "../a",
    ])
    func aPictureIsANameOrASafeAddress(_ text: String) throws {
        _ = try created("photo", "\"picture\":\"\(text)\"")
        _ = try ElementChanges(json("{\"picture\":\"\(text)\"}"))
    }

    @Test(arguments: [
        "javascript:alert(1)", #"\u006aavascript:1"#, #" \u0001JavaScript:1"#, #"java\tscript:1"#, #"\njavascript:1"#,
        "data:text/html,1",
        "data:,", "file:///etc/passwd", "blob:https://a.example/1", "http://a.example/a.png",
        "http://localhost.example/",
        "http://localhost:80@a.example/", #"http://localhost\\@a.example"#, "http:a.example", "https:a.example",
        "ftp://a", "a.b+c-d:e",
        "note:1",
    ])
    func otherSchemesOfAPictureAreRefused(_ text: String) throws {
        let photo = try json("{\"type\":\"photo\",\"picture\":\"\(text)\"}")
        #expect(refusedField { try NewElement(photo, path: "element") } == "element.picture")
        #expect(refusedField { try ElementChanges(json("{\"picture\":\"\(text)\"}")) } == "set.picture")
        // As any other field it is the app's own.
        _ = try created("photo", "\"link\":\"\(text)\",\"pictures\":\"\(text)\"")
    }

    @Test func anAddressOfAPictureHasABound() throws {
        _ = try created("photo", self.picture(2048, "https://a.example/"))
        #expect(
            throws: FieldError(
                field: "set.picture", message: "A picture's address has at most 2048 bytes.", tooLarge: true)
        ) { try ElementChanges(json("{\(self.picture(2049, "https://a.example/"))}")) }
    }

    @Test func aChangeCountsTheRevisionUpAndNamesItsAuthor() throws {
        var (element, _) = try created("note")
        element.recordChange(by: "bob")
        #expect((element.rev, element.createdBy, element.updatedBy) == (2, "ann", "bob"))
        element.rev = .max
        element.recordChange(by: "bob")
        #expect(element.rev == .max)
    }
}
