// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The parts of SwiftUI that the property wrappers use, as Apple declares them, to build the wrappers on other systems.
/// There is one environment. A state object lives as long as its wrapper.
@_exported import Combine

public protocol DynamicProperty { mutating func update() }

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

public struct EnvironmentValues {
    nonisolated(unsafe) public static var current = EnvironmentValues()
    private var values: [ObjectIdentifier: Any] = [:]

    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
    private let path: KeyPath<EnvironmentValues, Value>

    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
    public var wrappedValue: Value { EnvironmentValues.current[keyPath: path] }
    public mutating func update() {}
}

@propertyWrapper public struct StateObject<Object: ObservableObject>: DynamicProperty {
    private final class Box { var object: Object? }
    private let box = Box()
    private let make: () -> Object

    nonisolated public init(wrappedValue make: @autoclosure @escaping () -> Object) { self.make = make }

    @MainActor @preconcurrency public var wrappedValue: Object {
        let object = box.object ?? make()
        box.object = object
        return object
    }
    public mutating func update() {}
}
