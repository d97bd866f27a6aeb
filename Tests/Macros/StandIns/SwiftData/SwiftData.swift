/// A stand-in for SwiftData, with a name that Sync has too.
@propertyWrapper
public struct Relationship<Value> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
