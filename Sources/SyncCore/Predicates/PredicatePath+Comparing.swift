extension PredicatePath {
    /// The same value; compared with nil, no value.
    public static func == (path: PredicatePath, value: (any PredicateArgument)?) -> RecordPredicate {
        .compare(path, .equal, value)
    }

    /// Also true where there is no value, compared with one.
    public static func != (path: PredicatePath, value: (any PredicateArgument)?) -> RecordPredicate {
        .compare(path, .notEqual, value)
    }

    /// Never true where there is no value.
    public static func < (path: PredicatePath, value: any PredicateArgument) -> RecordPredicate {
        .compare(path, .less, value)
    }

    /// Never true where there is no value.
    public static func <= (path: PredicatePath, value: any PredicateArgument) -> RecordPredicate {
        .compare(path, .lessOrEqual, value)
    }

    /// Never true where there is no value.
    public static func > (path: PredicatePath, value: any PredicateArgument) -> RecordPredicate {
        .compare(path, .greater, value)
    }

    /// Never true where there is no value.
    public static func >= (path: PredicatePath, value: any PredicateArgument) -> RecordPredicate {
        .compare(path, .greaterOrEqual, value)
    }

    /// The same text, whatever its case.
    public func equals(_ text: String, ignoringCase: Bool) -> RecordPredicate {
        .compare(self, .equal, text, ignoringCase: ignoringCase)
    }

    /// Equal to one of the values; ``PredicateValue/null`` among them is no value. Case is for texts.
    public func isIn(_ values: [some PredicateArgument], ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .in, values, ignoringCase: ignoringCase)
    }

    /// From one value to another, both included.
    public func isBetween(_ first: some PredicateArgument, _ last: some PredicateArgument) -> RecordPredicate {
        .compare(self, .between, PredicateValue.list([first.predicateValue, last.predicateValue]))
    }

    /// From the first value of a range to its last, both included.
    public func isBetween(_ range: ClosedRange<some PredicateArgument>) -> RecordPredicate {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Whether the text contains this one.
    public func contains(_ text: String, ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .contains, text, ignoringCase: ignoringCase)
    }

    /// Whether the text begins with this one.
    public func beginsWith(_ text: String, ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .beginsWith, text, ignoringCase: ignoringCase)
    }

    /// Whether the text ends with this one.
    public func endsWith(_ text: String, ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .endsWith, text, ignoringCase: ignoringCase)
    }

    /// Whether the whole text matches a pattern with `*` and `?`. See ``PredicateOperator/like``.
    public func like(_ pattern: String, ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .like, pattern, ignoringCase: ignoringCase)
    }

    /// Whether the whole text matches a regular expression. See ``PredicateOperator/matches``.
    public func matches(_ pattern: String, ignoringCase: Bool = false) -> RecordPredicate {
        .compare(self, .matches, pattern, ignoringCase: ignoringCase)
    }
}
