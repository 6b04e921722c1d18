import SwiftUI
import TouchSyncClient

#if canImport(AppKit)
    import AppKit
#endif

@main struct WallApp: App {
    private let wall: Wall

    init() {
        // Arguments of the program, such as -user bob.
        let user = UserDefaults.standard.string(forKey: "user") ?? "ada"
        let server = UserDefaults.standard.string(forKey: "server") ?? "http://127.0.0.1:8080"
        let folder = URL.applicationSupportDirectory.appending(path: "wall").path(percentEncoded: false)
        do {
            self.wall = try Wall(server: server, user: ClientUser(id: user), folder: folder)
        } catch {
            fatalError("\(error)")
        }
        #if canImport(AppKit)
            // A program without a bundle has to say that it is an app: otherwise it gets no keyboard.
            NSApplication.shared.setActivationPolicy(.regular)
        #endif
    }

    var body: some Scene {
        WindowGroup { WallView(wall: self.wall).preferredColorScheme(.light) }
    }
}

struct WallView: View {
    let wall: Wall
    /// The id of the note that is written on.
    @FocusState private var writing: String?

    var body: some View {
        ZStack {
            Color(white: 0.95)
                .onTapGesture(count: 2) { place in self.wall.addNote(at: Point(x: place.x, y: place.y)) }
                .onTapGesture { self.writing = nil }
            ForEach(self.wall.model.elements) { element in
                NoteView(element: element, wall: self.wall, writing: self.$writing)
            }
        }
        .overlay(alignment: .bottom) {
            HStack {
                Text(self.wall.model.state.rawValue)
                Text(self.wall.others.joined(separator: ", "))
                Text(self.wall.failure ?? "")
                Button("Undo") {
                    self.writing = nil
                    self.wall.model.room.undo()
                }
            }
        }
    }
}

struct NoteView: View {
    let element: Element
    let wall: Wall
    let writing: FocusState<String?>.Binding
    @State private var text = ""
    @State private var gesture: SyncGesture?
    @GestureState private var isHeld = false

    var body: some View {
        TextField("Note", text: self.$text, axis: .vertical)
            .textFieldStyle(.plain)
            .focused(self.writing, equals: self.element.id)
            .padding(24)
            .frame(width: self.element.originalWidth, height: self.element.originalHeight)
            .background(.yellow)
            .gesture(self.fingers)
            .scaleEffect(x: self.element.scaleX, y: self.element.scaleY)
            .rotationEffect(.degrees(self.element.rotation))
            .position(x: self.element.positionX, y: self.element.positionY)
            .onChange(of: self.text) { if self.isWritten { self.wall.write(self.text, on: self.element.id) } }
            .onChange(of: self.stored, initial: true) { if let stored = self.stored { self.text = stored } }
            .onChange(of: self.isHeld) {
                // Also when the system cancels the gesture: then it does not call `onEnded`.
                if self.isHeld { return }
                self.gesture?.end()
                self.gesture = nil
            }
    }

    private var isWritten: Bool { self.writing.wrappedValue == self.element.id }

    /// The text that others see; nil while this person writes: a field that is set from outside loses keys.
    private var stored: String? { self.isWritten ? nil : self.element.content ?? "" }

    private var fingers: some Gesture {
        DragGesture(coordinateSpace: .global)
            .simultaneously(with: MagnifyGesture().simultaneously(with: RotateGesture()))
            .updating(self.$isHeld) { _, isHeld, _ in isHeld = true }
            .onChanged { fingers in
                let gesture = self.gesture ?? self.wall.model.room.begin(self.element.id)
                self.gesture = gesture
                // A part that SwiftUI leaves out stays as it was.
                gesture.update(
                    translation: (fingers.first?.translation).map { Point(x: $0.width, y: $0.height) },
                    scale: (fingers.second?.first?.magnification).map { Double($0) },
                    rotation: fingers.second?.second?.rotation.degrees)
            }
    }
}
