public import Foundation

/// The order of fetched rows: by attributes or paths, then by key.
///
/// ```swift
/// try await stack.fetch("User", orderedBy: "firstName")
/// try await stack.fetch("User", orderedBy: "lastName, -age")          // oldest first among equal last names
/// try await stack.fetch("User", orderedBy: ["lastName", "-age"])      // the same order
/// try await stack.fetch("User", orderedBy: "company.name")
/// ```
/// A path leads through to-one relationships to an attribute, to a to-one relationship, or to the count of a to-many
/// relationship. Examples are `company.name`, `company` and `notes.@count`. A to-one relationship orders rows by the
/// key of the referenced row.
///
/// In ascending order, nil comes first. In descending order, nil comes last. Strings are compared by code points. A
/// call that uses an order throws ``SyncError`` `unknownAttribute` for an unknown name, and `invalidOption` for an
/// order by a to-many relationship.
public struct RowOrder: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// An attribute or a path, with a direction.
    package struct Term: Sendable, Hashable {
        /// The name of an attribute, or a path through to-one relationships. A path ends with an attribute, a to-one
        /// relationship, or the count of a to-many relationship: `company.name`, `company`, `notes.@count`.
        package var attribute: String
        /// Whether the order is ascending.
        package var isAscending: Bool

        /// Creates a term for an attribute or a path, ascending by default.
        package init(_ attribute: String, ascending isAscending: Bool = true) {
            self.attribute = attribute
            self.isAscending = isAscending
        }
    }

    /// The terms. Each term orders the rows that are equal in all earlier terms.
    package var terms: [Term]

    /// Creates an order from terms.
    package init(_ terms: [Term]) { self.terms = terms }

    /// Creates an order from the names of attributes, or from paths. A minus sign before a name or path means
    /// descending order.
    public init(_ names: [String]) {
        terms = names.map { name in
            name.hasPrefix("-") ? Term(String(name.dropFirst()), ascending: false) : Term(name)
        }
    }

    /// Creates an order from the names of attributes, or from paths, separated by commas. A minus sign before a name or
    /// path means descending order.
    public init(stringLiteral text: String) {
        let names: [String] = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
            name.trimmingCharacters(in: .whitespaces)
        }
        self.init(names)
    }
    /// Creates an order from the names of attributes, or from paths. A minus sign before a name or path means
    /// descending order.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// The order by primary key: numbers by value, strings by code points, dates by time. Rows without a primary key
    /// are ordered by surrogate key.
    public static let byKey = RowOrder([Term]())
}

// MARK: - Key paths

extension RowOrder {
    /// Creates an order by an attribute or a to-one relationship of a type, or of a row at the end of to-one
    /// relationships.
    ///
    /// ```swift
    /// let order = RowOrder(\User.company?.name, ascending: false)
    /// ```
    /// With any other key path, a call that uses the order throws ``SyncError`` `unknownAttribute` or `invalidOption`.
    public init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init([Term(path, ascending: isAscending)])
    }

    /// Returns this order with an additional attribute or to-one relationship, which orders rows that are otherwise
    /// equal.
    public func then<Value: SyncEntity>(
        _ path: PartialKeyPath<Value>, ascending isAscending: Bool = true
    ) -> RowOrder {
        RowOrder(terms + [Term(path, ascending: isAscending)])
    }
}

extension RowOrder.Term {
    /// Creates a term for an attribute or a to-one relationship of a type.
    package init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init(Value.modelPath(path), ascending: isAscending)
    }
}

// MARK: - Sort descriptor

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RowOrder {
    /// Creates an order from sort descriptors of Foundation.
    ///
    /// ```swift
    /// let order = try RowOrder([SortDescriptor(\User.age, order: .reverse)])
    /// ```
    /// Strings are ordered by code points. On Apple platforms, the default comparator of `SortDescriptor(\.name)` is
    /// localized, and this initializer rejects localized comparators. Use
    /// `SortDescriptor(\.name, comparator: .lexical)` instead.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for a localized order or a custom comparator. `unknownAttribute` for a
    ///   property that is neither an attribute nor a relationship.
    public init<Value: SyncEntity>(_ descriptors: [SortDescriptor<Value>]) throws {
        self.init(try descriptors.map { try Term($0) })
    }

    /// Creates an order from a sort descriptor of Foundation.
    ///
    /// - Throws: The errors of ``init(_:)-([SortDescriptor<Value>])``.
    package init<Value: SyncEntity>(_ descriptor: SortDescriptor<Value>) throws { try self.init([descriptor]) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RowOrder.Term {
    /// Creates a term from a sort descriptor of Foundation.
    ///
    /// - Throws: The errors of ``RowOrder/init(_:)-([SortDescriptor<Value>])``.
    package init<Value: SyncEntity>(_ descriptor: SortDescriptor<Value>) throws {
        if var comparator = descriptor.stringComparator {
            comparator.order = .forward
            guard comparator == .lexical else {
                throw SyncError(
                    .invalidOption,
                    "the store cannot order strings by the rules of a locale; use 'comparator: .lexical'",
                    entity: Value.entityName)
            }
        }
        guard let path = descriptor.keyPath else {
            throw SyncError(
                .invalidOption, "the store cannot order by a custom comparator",
                entity: Value.entityName)
        }
        guard let property = Value.syncProperties[path] else {
            throw SyncError(
                .unknownAttribute, "\(path) is not an attribute of \(Value.entityName)", entity: Value.entityName)
        }
        self.init(property.name, ascending: descriptor.order == .forward)
    }
}
