// A drawing as the text of an SVG file: each shape has a class, and one style sheet gives the classes their
// colours, on light and on dark pages. Lengths are pixels, y grows downwards.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace keysieve {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

enum class Anchor { Start, Middle, End };

class Svg {
 public:
  // `title` is what a browser shows in its tab.
  Svg(double width, double height, std::string_view title);

  void line(Point from, Point to, std::string_view style);
  // Draws a line through all points; the parts outside `window` are not shown.
  void curve(std::span<const Point> points, const Box& window, std::string_view style);
  void dot(Point at, double radius, std::string_view style);
  void rectangle(const Box& box, std::string_view style);
  // Any UTF-8 text; `at` is the anchor's point on the base line.
  void text(Point at, Anchor anchor, std::string_view text, std::string_view style);
  // Text that is turned to read upwards.
  void upward_text(Point at, std::string_view text, std::string_view style);

  // Returns the whole file. Nothing can be drawn after it.
  std::string finish();

 private:
  void add_text(Point at, Anchor anchor, std::string_view text, std::string_view style,
                std::string_view transform);

  std::string text_;
  int windows_ = 0;
};

}  // namespace keysieve
