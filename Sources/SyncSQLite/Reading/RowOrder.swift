public import Foundation
public import SyncCore

/// The order of fetched rows: by attributes or paths, then by key.
///
/// ```swift
/// try await stack.fetch("User", orderedBy: "firstName")
/// try await stack.fetch("User", orderedBy: ["lastName", "-age"])      // oldest first among equal last names
/// try await stack.fetch("User", orderedBy: "company.name")
/// ```
/// Nil comes first, or last if the order is descending. Text is compared by its code points.
public struct RowOrder: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// An attribute or a path, with the direction of its order.
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

    /// The terms. Each term orders the rows that are equal by all earlier terms.
    package var terms: [Term]

    /// Creates an order from terms.
    package init(_ terms: [Term]) { self.terms = terms }

    /// Creates an order from names of attributes, or paths. A minus before a name means descending order.
    public init(_ names: [String]) {
        terms = names.map { name in
            name.hasPrefix("-") ? Term(String(name.dropFirst()), ascending: false) : Term(name)
        }
    }

    /// Creates an order from the name of one attribute, or one path. A minus before it means descending order.
    public init(stringLiteral name: String) { self.init([name]) }
    /// Creates an order from names of attributes, or paths. A minus before a name means descending order.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// The order by key: numbers by size, text by code points, dates by time.
    public static let byKey = RowOrder([Term]())
}

// MARK: - Key paths

extension RowOrder {
    /// Creates an order by an attribute of a type: `RowOrder(\User.lastName, ascending: false)`. A key path to a to-one
    /// relationship works too. Any other key path causes an error when the order is used.
    public init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init([Term(path, ascending: isAscending)])
    }

    /// Returns this order with an additional attribute, which orders rows that are otherwise equal.
    public func then<Value: SyncEntity>(
        _ path: PartialKeyPath<Value>, ascending isAscending: Bool = true
    ) -> RowOrder {
        RowOrder(terms + [Term(path, ascending: isAscending)])
    }
}

extension RowOrder.Term {
    /// Creates a term for an attribute or a to-one relationship of a type.
    package init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init(Value.syncProperties[path]?.name ?? "\(path)", ascending: isAscending)
    }
}

// MARK: - Sort descriptor

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RowOrder {
    /// Creates an order from Foundation's sort descriptors: `try RowOrder([SortDescriptor(\User.age, order:
    /// .reverse)])`.
    ///
    /// Text is ordered by code points. On Apple platforms the default comparator of `SortDescriptor(\.name)` is
    /// localized, and this initializer rejects it. Use `SortDescriptor(\.name, comparator: .lexical)`.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for a localized order or a custom comparator; `unknownAttribute` for a
    ///   property that is not an attribute.
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
