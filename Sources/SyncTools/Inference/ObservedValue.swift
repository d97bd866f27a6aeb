import SyncCore

/// What was seen under one key.
final class ObservedValue {
    private(set) var scalars = ObservedScalars()
    /// Objects that are no list's elements.
    private(set) var singles = 0
    /// Lists of objects, nulls aside.
    private(set) var objectLists = 0
    private(set) var scalarLists = 0
    private(set) var emptyLists = 0
    /// Lists of lists, of booleans, or of a mixture.
    private(set) var otherLists = 0
    /// The elements of lists of scalars.
    private(set) var elements = ObservedScalars()
    /// The objects, in lists or not.
    private(set) var object: ObservedObject?
    /// Listed id → the id of the row that lists it.
    private(set) var owners: [String: String] = [:]
    /// Whether an id was listed by two rows.
    private(set) var isShared = false
    /// In which order lists have the ids of their rows.
    private(set) var order = ObservedOrder()
    /// The entities that its objects say they are of, where they do.
    private(set) var destinations: Set<String> = []
    /// What the kinds of its objects are called, where that stands beside them: one, or the first two.
    private var kinds: Set<String> = []
    /// Whether it is kept as it is, whatever it looks like.
    var isPlain = false
    private let key: String

    /// - Parameter key: The key it stands under.
    init(key: String) { self.key = key }

    var lists: Int { objectLists + scalarLists + emptyLists + otherLists }
    var objects: Int { singles + objectLists }
    var count: Int { scalars.count + scalars.nulls + singles + lists }

    func observe(_ value: JSONValue, ownedBy owner: String?) {
        switch value {
        case .array(let elements): observe(list: elements, ownedBy: owner)
        case .object:
            singles += 1
            nested.observe(value)
        default: scalars.observe(value)
        }
    }

    private func observe(list: [JSONValue], ownedBy owner: String?) {
        let values = list.filter { $0 != .null }
        var objects = 0
        var scalars = 0
        for value in values {
            switch value {
            case .object: objects += 1
            case .number, .string: scalars += 1
            default: break
            }
        }
        switch values.count {
        case 0 where list.isEmpty: emptyLists += 1
        // A list of nulls only says nothing about links, and is not empty either.
        case 0: otherLists += 1
        case objects:
            objectLists += 1
            var ids: [String] = []
            for value in values {
                nested.observe(value)
                guard let id = nested.id(of: value) else { continue }
                ids.append(id)
                if let owner { own(id, by: owner) }
            }
            order.observe(ids)
        case scalars:
            scalarLists += 1
            for value in values { elements.observe(value) }
            order.observe(values.lazy.compactMap(\.keyText))
        default: otherLists += 1
        }
    }

    private func own(_ id: String, by owner: String) {
        if let known = owners[id], known != owner { isShared = true }
        owners[id] = owner
    }

    private var nested: ObservedObject {
        if let object { return object }
        let made = ObservedObject(entity: Inflection.entityName(key, isList: true))
        object = made
        return made
    }

    /// Records the kind of the object. Things of several kinds may share an id, and are kept as they are.
    func record(kind: String) {
        guard kinds.count < 2 else { return }
        kinds.insert(kind)
        if kinds.count > 1, singles > 0 { isPlain = true }
    }

    /// Records the entity of objects that state it.
    func link(to entity: String) { destinations.insert(entity) }

    /// Adds what was seen elsewhere. Of objects only that there were some: they are merged by entity.
    func merge(_ other: ObservedValue) {
        scalars.merge(other.scalars)
        singles += other.singles
        objectLists += other.objectLists
        scalarLists += other.scalarLists
        emptyLists += other.emptyLists
        otherLists += other.otherLists
        elements.merge(other.elements)
        order.merge(other.order)
        if other.isShared { isShared = true }
        destinations.formUnion(other.destinations)
        for kind in other.kinds { record(kind: kind) }
        if other.isPlain { isPlain = true }
        for (id, owner) in other.owners { own(id, by: owner) }
    }

    /// Adds what was seen elsewhere, with what is nested there.
    func add(_ other: ObservedValue) {
        merge(other)
        if let object = other.object { nested.add(object) }
    }
}

extension ObservedObject {
    /// Adds what was seen elsewhere, with what is nested there.
    func add(_ other: ObservedObject) {
        merge(other, nested: { $0.add($1) })
    }
}

/// What was seen of the objects in one place of the samples. A class: places nest, and are added to while reading.
final class ObservedObject {
    /// How many objects there were.
    private(set) var count = 0
    /// The keys in the order they were first seen.
    private(set) var keys: [String] = []
    private(set) var members: [String: ObservedValue] = [:]
    /// What was said of objects that have an id: to see whether two places hold the same things.
    private(set) var things = SeenObjects()
    /// What their id may be called.
    let names: KeyNames

    /// Where there are lists inside a sample that is one object without an id, and what the object looks like.
    var listPaths: [[String]] = []
    var shape: PayloadFormatDetector?

    /// The objects under all its keys, if it is used as a dictionary of records.
    private(set) lazy var keyedRecords: ObservedObject? = recordsOfMembers()

    /// - Parameter entity: What the objects are of, as far as that is known.
    init(entity: String = "") { names = KeyNames(entity: entity) }

    /// - Parameter primaryKey: The JSON keys that identify the object, if they are none of its ``names``.
    func observe(_ object: JSONValue, primaryKey: [String]? = nil) {
        guard case .object(let found) = object else { return }
        count += 1
        let id = id(of: object, primaryKey)
        for member in found { observed(member.key).observe(member.value, ownedBy: id) }
        recordKinds(found)
        if let id { things.insert(found, id: id) }
    }

    /// Records the kind of the object under a key, if a sibling member has it: `commentable_type`.
    private func recordKinds(_ found: [JSONValue.Member]) {
        for case let (key, .string(kind)) in found.lazy.map({ ($0.key, $0.value) }) {
            guard let ending = ["_type", "Type", "-type"].first(where: key.hasSuffix) else { continue }
            members[String(key.dropLast(ending.count))]?.record(kind: kind)
        }
    }

    /// What is seen under a key.
    func observed(_ key: String) -> ObservedValue {
        if let known = members[key] { return known }
        let value = ObservedValue(key: key)
        keys.append(key)
        members[key] = value
        return value
    }

    /// Counts an object whose members are observed one by one.
    func record(_ members: [JSONValue.Member], id: String?) {
        count += 1
        if let id { things.insert(members, id: id) }
    }

    /// Adds what was seen elsewhere, without what is nested there.
    func merge(
        _ other: ObservedObject, nested: (ObservedValue, ObservedValue) -> Void = { $0.merge($1) }
    ) {
        count += other.count
        listPaths += other.listPaths
        shape = shape ?? other.shape
        for key in other.keys {
            if let value = other.members[key] { nested(observed(key), value) }
        }
        things.merge(other.things)
    }

    /// The text of an object's id.
    func id(of object: JSONValue, _ primaryKey: [String]? = nil) -> String? {
        primaryKey.map { object.keyText(of: $0) } ?? names.id(of: object)
    }
}

/// What kinds of scalars stood in one place.
struct ObservedScalars {
    private(set) var nulls = 0
    private(set) var booleans = 0
    private(set) var integers = 0
    /// Numbers with a point or an exponent.
    private(set) var fractions = 0
    private(set) var strings = 0
    /// Numbers with more digits than a double keeps, or whole ones beyond 64 bits.
    private var exact = 0
    /// Numbers that no decimal, and those that no double holds.
    private var beyondDecimal = 0
    private var beyondDouble = 0
    private var dates = 0
    private var uuids = 0
    private var urls = 0

    /// How many values there were, nulls aside.
    var count: Int { booleans + numbers + strings }
    var numbers: Int { integers + fractions }

    mutating func observe(_ value: JSONValue) {
        switch value {
        case .null: nulls += 1
        case .bool: booleans += 1
        case .number(let text): observe(number: text)
        case .string(let text): observe(string: text)
        case .array, .object: break
        }
    }

    private mutating func observe(number text: String) {
        let isWhole = !text.contains { $0 == "." || $0 == "e" || $0 == "E" }
        if isWhole { integers += 1 } else { fractions += 1 }
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            let digits = NumberText.parts(bytes)?.digits.count ?? .max
            if digits > 15, !isWhole || NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, digits > 15 { longIntegers += 1 }
            var out: [UInt8] = []
            if !DecimalText.append(bytes, to: &out) { beyondDecimal += 1 }
            if NumberText.double(bytes) == nil { beyondDouble += 1 }
        }
    }

    /// Whole numbers that 64 bits hold but a double may not.
    private var longIntegers = 0

    private mutating func observe(string text: String) {
        strings += 1
        let value = JSONValue.string(text)
        if Self.isDate(text) { dates += 1 }
        if Coercion.storedValue(value, as: .uuid) != nil { uuids += 1 }
        let scheme = text.prefix(8).lowercased()
        if scheme.hasPrefix("http://") || scheme.hasPrefix("https://"),
            Coercion.storedValue(value, as: .url) != nil
        {
            urls += 1
        }
    }

    /// A whole day at least: a year or a Unix time is not recognised, it may be any number.
    private static func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return false }
        return bytes.withUnsafeBufferPointer { DateParser.milliseconds($0) } != nil
    }

    mutating func merge(_ other: ObservedScalars) {
        nulls += other.nulls
        booleans += other.booleans
        integers += other.integers
        fractions += other.fractions
        strings += other.strings
        exact += other.exact
        longIntegers += other.longIntegers
        beyondDecimal += other.beyondDecimal
        beyondDouble += other.beyondDouble
        dates += other.dates
        uuids += other.uuids
        urls += other.urls
    }

    // MARK: Types

    /// The narrowest type that keeps every value; string if there was none.
    var type: AttributeType {
        if booleans > 0 { return count == booleans ? .boolean : .json }
        if strings == 0 { return numbers == 0 ? .string : numberType }
        // A number beside strings becomes its shortest text.
        guard numbers == 0 else { return beyondDecimal > 0 ? .json : .string }
        if uuids == strings { return .uuid }
        if dates == strings { return .date }
        return urls == strings ? .url : .string
    }

    private var numberType: AttributeType {
        if fractions == 0, exact == 0 { return .integer }
        if exact + longIntegers > 0, beyondDecimal == 0 { return .decimal }
        return exact + longIntegers == 0 && beyondDouble == 0 ? .double : .json
    }

    /// The type of a key with these values: days and links stay text. Nil if they cannot be keys.
    var keyType: AttributeType? {
        guard count > 0, booleans == 0 else { return nil }
        switch type {
        case .integer, .uuid, .decimal, .double: return type
        case .json: return nil
        default: return .string
        }
    }

    /// Whether each value can be the id of a row with such keys.
    func fits(key type: AttributeType) -> Bool {
        guard let found = keyType else { return false }
        return found == type || (type == .string && found != .double)
    }
}

/// Whether lists had their rows in the order of their keys, in which lists without an order are read.
struct ObservedOrder {
    private var isOfNumbers = true
    private var isOfTexts = true

    /// - Parameter ids: Of one list, as texts.
    mutating func observe(_ ids: some Sequence<String>) {
        var previous: String?
        for id in ids {
            guard isOfNumbers || isOfTexts else { return }
            if let previous, previous != id { compare(previous, id) }
            previous = id
        }
    }

    private mutating func compare(_ one: String, _ next: String) {
        isOfTexts = isOfTexts && one.utf8.lexicographicallyPrecedes(next.utf8)
        guard isOfNumbers else { return }
        if let first = Int64(one), let second = Int64(next) {
            isOfNumbers = first < second
        } else {
            isOfNumbers = Double(one).flatMap { first in Double(next).map { first < $0 } } ?? false
        }
    }

    mutating func merge(_ other: ObservedOrder) {
        isOfNumbers = isOfNumbers && other.isOfNumbers
        isOfTexts = isOfTexts && other.isOfTexts
    }

    /// Whether all lists were in the order of keys of a type.
    func isOfKeys(_ type: AttributeType?) -> Bool {
        switch type {
        case .integer, .double, .decimal: isOfNumbers
        default: isOfTexts
        }
    }
}
