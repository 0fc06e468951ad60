/// An enum whose cases are elements: the name of an element tells the case.
///
/// ```swift
/// enum Block: Codable, XMLChoice {
///     case p(Paragraph)
///     case image(Image)
///     case text(String)
///
///     enum CodingKeys: String, CodingKey {
///         case p, image
///         case text = "#text"
///     }
/// }
///
/// struct Chapter: Codable {
///     var blocks: [Block]
/// }
/// ```
///
/// A `Chapter` is read from `<chapter><p/>…<image/>…<p/></chapter>`: the blocks are children of the chapter, and keep
/// their order. Elements that are no case are passed over, for they belong to other keys; the name of the property,
/// `blocks`, is not looked for. A case named `#text` stands for pieces of text between the elements, if they are more than
/// white space.
///
/// An enum that is not marked so is read from an element that holds the one of its case:
/// `<block><image/></block>`.
public protocol XMLChoice {}
