import SocketIO
import Testing

/// What is checked of a request for an Engine.IO path, in the reference server's order.
@Suite struct EngineRequestTests {
    private func read(_ text: String) throws -> Result<EngineRequest, EngineError> {
        let head = try requestHead(text)
        return Result { () throws(EngineError) in try EngineRequest(head) }
    }

    @Test func requestWithoutSidOpensASession() throws {
        #expect(try self.read(RawClient.get("/e/?EIO=4&transport=polling")) == .success(.open(.polling)))
        #expect(try self.read(RawClient.upgrade("/e/?EIO=4&transport=websocket")) == .success(.open(.webSocket)))
    }

    @Test func requestWithSidIsForItsSessionWhateverItsMethodAndVersion() throws {
        let sid = bytes("a.b")
        #expect(
            try self.read(RawClient.get("/e/?transport=polling&sid=a%2Eb"))
                == .success(.session(sid: sid, .polling)))
        #expect(
            try self.read(RawClient.post("/e/?EIO=3&transport=polling&sid=a.b", "4"))
                == .success(.session(sid: sid, .polling)))
        #expect(
            try self.read(RawClient.upgrade("/e/?EIO=4&transport=websocket&sid=a.b"))
                == .success(.session(sid: sid, .webSocket)))
    }

    @Test func unknownTransportComesBeforeEverythingElse() throws {
        for transport in ["", "transport=", "transport=Polling", "transport=webtransport"] {
            let request = RawClient.post("/e/?\(transport)", "")
            #expect(try self.read(request) == .failure(.unknownTransport), "\(transport)")
        }
    }

    @Test func transportMustMatchTheUpgradeField() throws {
        #expect(try self.read(RawClient.get("/e/?EIO=4&transport=websocket")) == .failure(.badRequest))
        #expect(try self.read(RawClient.upgrade("/e/?EIO=4&transport=polling&sid=x")) == .failure(.badRequest))
    }

    @Test func openingNeedsGetAndThenVersion4() throws {
        #expect(try self.read(RawClient.post("/e/?transport=polling", "")) == .failure(.badHandshakeMethod))
        for version in ["", "&EIO=3", "&EIO=04", "&EIO=5"] {
            let request = RawClient.get("/e/?transport=polling\(version)")
            #expect(try self.read(request) == .failure(.unsupportedVersion), "\(version)")
        }
    }
}
