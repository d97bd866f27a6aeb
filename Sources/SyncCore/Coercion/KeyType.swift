/// What the keys of an entity are: values of an attribute's type, or lists of the values of several parts.
package indirect enum KeyType: Sendable, Hashable {
    /// Of one attribute.
    case single(AttributeType)
    /// Of these parts; that of a relationship is the key type of the entity it leads to.
    case composite([KeyType])
}
