extension SyncModel.Attribute {
    /// An attribute whose values are of a Swift type, which says whether they may be nil. A key is stored either way.
    ///
    /// - Parameters:
    ///   - isKey: Whether it is the primary key, or a part of it, by its name or by what the entity says.
    ///   - defaultValue: The value of new rows that are given none.
    public init<Value: AttributeValue>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? Value.attributeType, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey,
            isOptional: isPrimaryKey || isKey || Value.isOptional,
            defaultValue: defaultValue.flatMap { $0.storedValue.isNull ? nil : $0.storedValue },
            isExportable: isExportable, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(AttributeFitting(Value.self), Value.attributeType)
    }

    /// What is of another type in the store is not read as the Swift type either.
    private mutating func check(_ fitting: (any ValueFitting)?, _ type: AttributeType) {
        if self.type == type { check = ValueCheck(fitting) }
    }

    /// An attribute whose values are the raw values of a Swift type.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExportable: isExportable,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// An attribute whose values are the raw values of a Swift type, or nil.
    public init<Value: RawRepresentable>(
        _ name: String, _ type: Value?.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) where Value.RawValue: AttributeValue {
        self.init(
            name, Value.RawValue?.self, remoteKey: remoteKey, isPrimaryKey: isPrimaryKey, isKey: isKey,
            default: defaultValue?.rawValue, transformers: transformers, isExportable: isExportable,
            renamedFrom: renamedFrom, format: format, as: stored, column: column)
        check(RawFitting<Value>(), Value.RawValue.attributeType)
    }

    /// An attribute whose values are kept as JSON.
    @_disfavoredOverload
    public init<Value: Codable>(
        _ name: String, _ type: Value.Type, remoteKey: String? = nil, isPrimaryKey: Bool = false, isKey: Bool = false,
        default defaultValue: Value? = nil, transformers: [String] = [], isExportable: Bool = true,
        renamedFrom: String? = nil, format: AttributeFormat? = nil, as stored: AttributeType? = nil,
        column: String? = nil
    ) {
        self.init(
            name, stored ?? .json, remoteKey: remoteKey, isOptional: CodedValue.isOptional(Value.self),
            defaultValue: defaultValue.flatMap { try? CodedValue.json($0) }.map(StoredValue.json),
            isExportable: isExportable, renamedFrom: renamedFrom, transformers: transformers, format: format,
            column: column)
        check(CodedFitting<Value>(), .json)
    }
}
