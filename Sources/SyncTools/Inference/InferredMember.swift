import SyncCore

/// What a JSON key of an entity becomes.
struct InferredMember {
    enum Kind: Equatable {
        case attribute(AttributeType)
        /// A link given by objects, or by ids.
        case link(to: String, many: Bool, byID: Bool)
    }

    var key: String
    var kind: Kind
    var value: ObservedValue
    /// Whether it is a list that comes in another order than that of its keys.
    var isOrdered = false

    /// - Parameter target: The entity with the name an id key gives, if there is one with a key.
    init(
        _ key: String, _ value: ObservedValue, of entity: InferredEntity, target: (String) -> InferredEntity?
    ) {
        self.key = key
        self.value = value
        kind = Self.kind(key, value, entity, target)
        if case .link(let destination, true, _) = kind {
            isOrdered = !value.order.isOfKeys(target(destination)?.keyType)
        }
    }

    private static func kind(
        _ key: String, _ value: ObservedValue, _ entity: InferredEntity, _ target: (String) -> InferredEntity?
    ) -> Kind {
        if entity.key.contains(key), let type = value.scalars.keyType { return .attribute(type) }
        if let destination = entity.destinations[key] {
            return .link(to: destination, many: value.objectLists > 0 || entity.keyed.contains(key), byID: false)
        }
        if let found = InferredNames.target(ofIDKey: key), let target = target(found.name), let type = target.keyType {
            if found.isList, value.objects == 0, value.otherLists == 0, value.scalars.count == 0,
                value.scalarLists > 0, value.elements.fits(key: type)
            {
                return .link(to: target.name, many: true, byID: true)
            }
            if !found.isList, value.lists == 0, value.singles == 0, value.scalars.fits(key: type) {
                return .link(to: target.name, many: false, byID: true)
            }
        }
        return .attribute(value.lists + value.singles > 0 ? .json : value.scalars.type)
    }
}
