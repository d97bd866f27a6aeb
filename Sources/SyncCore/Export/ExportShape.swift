/// What the JSON of an entity's rows consists of: its keys, those of dotted paths as objects in objects.
package struct ExportShape {
    /// One key of an object.
    struct Field {
        let key: String
        var content: Content
    }

    indirect enum Content {
        /// `isLink`: whether its key is also read as an id of a relationship, as `company_id` is beside `company`.
        case attribute(slot: Int, conversion: ValueConversion?, isLink: Bool)
        case relationship(CompiledRelationship)
        case object([Field])
        /// What the rows of an entity are called.
        case kind(String)
    }

    let fields: [Field]
    /// What of the entity has no place in it.
    package let omissions: [ExportOmission]
}

/// Which shape: a row of one entity is read back as one of another where a relationship or a call names an ancestor.
package struct ExportShapeKey: Hashable {
    let entity: Int
    let destination: Int
    /// Whether the row is exported inside nested attributes.
    let isNested: Bool

    package init(entity: Int, destination: Int, isNested: Bool) {
        self.entity = entity
        self.destination = destination
        self.isNested = isNested
    }
}
