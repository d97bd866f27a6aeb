import SyncCore

// Attributes of which nothing but null was seen yet.
extension SyncModel.Attribute {
    /// How a model says that the type is still open.
    private static let open = "unknown"

    /// Whether no value was seen yet when the model was inferred: it is kept as it comes, and `ModelExtension` gives it the
    /// type of the first values.
    var isTypeOpen: Bool { type == .json && sourceType == Self.open }

    mutating func leaveTypeOpen() {
        type = .json
        sourceType = Self.open
    }
}

extension ObservedValue {
    /// Whether nothing but null was seen.
    var isNullOnly: Bool { scalars.nulls > 0 && count == scalars.nulls }
}
