import TouchSyncClient

// What an app has around the pieces of code on the client's pages.

let applicationSupport = "."
let id = "note-1"
let room: SyncRoom = { fatalError() }()
let gesture: SyncGesture = { fatalError() }()

func fetchToken(_ reason: TokenReason) async throws -> String? { nil }
func show(_ id: String, _ element: Element?) {}
func showAll(_ elements: [Element]) {}
func drawFrames(of ids: [String]) {}
func ring(_ name: String, _ times: Int?) {}
