/// A stand-in for the macro of SwiftData, with a name that Sync has too.
@propertyWrapper
public struct Relationship<Value> {
    /// The value of the property.
    public var wrappedValue: Value

    /// Creates a property with a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
