// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The parts of Combine that the property wrappers use, as Apple declares them, to build the wrappers on other systems.
public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct Published<Value> {
    private var stored: Value

    public init(wrappedValue: Value) { stored = wrappedValue }

    @available(*, unavailable, message: "only in classes")
    public var wrappedValue: Value {
        get { stored }
        set { stored = newValue }
    }

    public static subscript<Object: AnyObject>(
        _enclosingInstance object: Object, wrapped wrapped: ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Published<Value>>
    ) -> Value {
        get { object[keyPath: storage].stored }
        set { object[keyPath: storage].stored = newValue }
    }
}
