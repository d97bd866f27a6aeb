/// A stand-in for the protocol of an object mapper, with a name that Sync has too.
public protocol Entity {}

/// A stand-in for a property wrapper of an object mapper, with a name that Sync has too.
@propertyWrapper
public struct PrimaryKey<Value> {
    /// The value of the property.
    public var wrappedValue: Value

    /// Creates a property with a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
