// As much of SwiftUI as the example uses, and two of its names that the module Canvas has, too.
@_exported import Foundation
@_exported import FoundationAdditions

public struct Angle: Equatable, Sendable {
    public static func degrees(_ degrees: Double) -> Angle { fatalError() }

    public var degrees: Double { fatalError() }
}

public struct Canvas: Leaf {
    public init(renderer: @escaping (inout GraphicsContext, CGSize) -> Void) {}
}

public struct GraphicsContext {
    public mutating func rotate(by angle: Angle) {}
}

// MARK: - Apps and views

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return fatalError() }
}

/// A view without views in it.
public protocol Leaf: View where Body == Never {}

extension Leaf {
    public var body: Never { return fatalError() }
}

@MainActor public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

@MainActor public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group { fatalError() }
    public static func buildIf(_ content: (some View)?) -> Group { fatalError() }
    public static func buildEither(first: some View) -> Group { fatalError() }
    public static func buildEither(second: some View) -> Group { fatalError() }
}

@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct Group: Leaf {}

public struct WindowGroup: Scene {
    public init(@ViewBuilder content: () -> some View) {}

    public var body: Never { return fatalError() }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

public struct Binding<Value> {}

@propertyWrapper public struct FocusState<Value: Hashable> {
    public struct Binding {
        public var wrappedValue: Value {
            get { fatalError() }
            nonmutating set {}
        }
    }

    public init() where Value: ExpressibleByNilLiteral {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding { fatalError() }
}

// MARK: - Contents

public struct Text: Leaf {
    public init(_ text: String) {}
}

public struct TextField: Leaf {
    public enum Style {
        case plain
    }

    public init(_ prompt: String, text: Binding<String>, axis: Axis) {}
}

public enum Axis {
    case vertical
}

public struct Color: Leaf {
    public static var yellow: Color { fatalError() }

    public init(white: Double) {}
}

public struct Button: Leaf {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

public struct ZStack: Leaf {
    public init(@ViewBuilder content: () -> some View) {}
}

public struct HStack: Leaf {
    public init(@ViewBuilder content: () -> some View) {}
}

public struct ForEach: Leaf {
    public init<Items: RandomAccessCollection>(
        _ items: Items, @ViewBuilder content: @escaping (Items.Element) -> some View
    )
    where Items.Element: Identifiable {}
}

public struct Alignment: Sendable {
    public static var bottom: Alignment { fatalError() }
}

public enum ColorScheme {
    case light, dark
}

extension View {
    public func frame(width: CGFloat?, height: CGFloat?) -> Group { fatalError() }
    public func scaleEffect(x: CGFloat, y: CGFloat) -> Group { fatalError() }
    public func rotationEffect(_ angle: Angle) -> Group { fatalError() }
    public func position(x: CGFloat, y: CGFloat) -> Group { fatalError() }
    public func padding(_ length: CGFloat) -> Group { fatalError() }
    public func background(_ style: Color) -> Group { fatalError() }
    public func preferredColorScheme(_ scheme: ColorScheme?) -> Group { fatalError() }
    public func textFieldStyle(_ style: TextField.Style) -> Group { fatalError() }
    public func overlay(alignment: Alignment, @ViewBuilder content: () -> some View) -> Group { fatalError() }
    public func onTapGesture(count: Int, perform: @escaping (CGPoint) -> Void) -> Group { fatalError() }
    public func onTapGesture(perform: @escaping () -> Void) -> Group { fatalError() }
    public func onChange(of value: some Equatable, initial: Bool = false, _ action: @escaping () -> Void) -> Group {
        fatalError()
    }
    public func focused<Value>(_ focus: FocusState<Value>.Binding, equals value: Value) -> Group { fatalError() }
    public func gesture(_ gesture: some Gesture) -> Group { fatalError() }
}

// MARK: - Gestures

@MainActor public protocol Gesture {
    associatedtype Value
}

extension Gesture {
    public func simultaneously<Other: Gesture>(with other: Other) -> SimultaneousGesture<Self, Other> { fatalError() }
    public func onEnded(_ action: @escaping (Value) -> Void) -> Watched<Self> { fatalError() }
    public func updating<State>(
        _ state: GestureState<State>, body: @escaping (Value, inout State, inout Transaction) -> Void
    ) -> Watched<Self> { fatalError() }
}

extension Gesture where Value: Equatable {
    public func onChanged(_ action: @escaping (Value) -> Void) -> Watched<Self> { fatalError() }
}

@propertyWrapper public struct GestureState<Value> {
    public init(wrappedValue: Value) {}

    public var wrappedValue: Value { fatalError() }
    public var projectedValue: GestureState<Value> { self }
}

public struct Transaction {}

public struct Watched<Wrapped: Gesture>: Gesture {
    public typealias Value = Wrapped.Value
}

public struct SimultaneousGesture<First: Gesture, Second: Gesture>: Gesture {
    public struct Value {
        public var first: First.Value?
        public var second: Second.Value?
    }
}

extension SimultaneousGesture.Value: Equatable where First.Value: Equatable, Second.Value: Equatable {}

public struct DragGesture: Gesture {
    public enum CoordinateSpace: Sendable {
        case global
    }

    public struct Value: Equatable {
        public var translation: CGSize
    }

    public init(coordinateSpace: CoordinateSpace) {}
}

public struct MagnifyGesture: Gesture {
    public struct Value: Equatable {
        public var magnification: CGFloat
    }

    public init() {}
}

public struct RotateGesture: Gesture {
    public struct Value: Equatable {
        public var rotation: Angle
    }

    public init() {}
}
