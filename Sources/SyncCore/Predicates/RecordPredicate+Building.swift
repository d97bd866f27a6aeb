extension RecordPredicate {
    /// That an attribute or to-one relationship of this name has no value, whatever its name looks like.
    package init(isNil name: String) {
        self.init(.comparison(PredicateComparison(isNil: PredicatePath(components: [name]))))
    }

    /// An attribute or to-one relationship. See ``PredicatePath/attribute(_:)``.
    public static func attribute(_ path: String) -> PredicatePath { .attribute(path) }

    /// See ``PredicatePath/any(_:)``.
    public static func any(_ path: String) -> PredicatePath { .any(path) }

    /// See ``PredicatePath/all(_:)``.
    public static func all(_ path: String) -> PredicatePath { .all(path) }

    /// See ``PredicatePath/none(_:)``.
    public static func none(_ path: String) -> PredicatePath { .none(path) }

    /// See ``PredicatePath/count(_:)``.
    public static func count(_ path: String) -> PredicatePath { .count(path) }

    /// One comparison. A value the operator does not take is an error where the predicate is used.
    public static func compare(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: (any PredicateArgument)?, ignoringCase: Bool = false
    ) -> RecordPredicate {
        do {
            let value = value?.predicateValue ?? .null
            return RecordPredicate(.comparison(try PredicateComparison(path, op, value, ignoresCase: ignoringCase)))
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RecordPredicate(.invalid(error, text: "\(path.name) \(op.rawValue)"))
        }
    }

    /// All of the conditions; with none, every row.
    public static func allOf(_ conditions: [RecordPredicate]) -> RecordPredicate {
        conditions.isEmpty ? .all : RecordPredicate(.all(of: conditions.map(\.node)))
    }

    /// At least one of the conditions; with none, no row.
    public static func anyOf(_ conditions: [RecordPredicate]) -> RecordPredicate {
        conditions.isEmpty ? .nothing : RecordPredicate(.any(of: conditions.map(\.node)))
    }

    /// Both conditions.
    public static func && (left: RecordPredicate, right: RecordPredicate) -> RecordPredicate {
        RecordPredicate(.all(of: [left.node, right.node]))
    }

    /// At least one of the conditions.
    public static func || (left: RecordPredicate, right: RecordPredicate) -> RecordPredicate {
        RecordPredicate(.any(of: [left.node, right.node]))
    }

    /// The exact complement.
    public static prefix func ! (predicate: RecordPredicate) -> RecordPredicate {
        RecordPredicate(.not(predicate.node))
    }
}
