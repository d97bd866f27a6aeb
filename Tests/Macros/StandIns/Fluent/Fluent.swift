/// A stand-in for an object mapper for servers, with names that Sync has too.
public protocol Entity {}

@propertyWrapper
public struct PrimaryKey<Value> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
