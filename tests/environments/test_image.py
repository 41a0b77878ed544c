"""Which image guests boot, and what is said when it is not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tierlab.environments.images import image
from tierlab.environments.images.image import RECIPES, Recipe
from tierlab.errors import UserError


def test_another_recipe_is_another_image() -> None:
    recipe = Recipe()
    assert recipe.key == Recipe().key
    others = {
        replace(recipe, packages=(*recipe.packages, "nginx")).key,
        replace(recipe, init=recipe.init + "\n").key,
        replace(recipe, modules=recipe.modules[:-1]).key,
    }
    assert len(others | {recipe.key}) == 4


def test_an_image_that_is_not_built_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in RECIPES:
        with pytest.raises(UserError, match=f"tierlab image build {name}"):
            image.find(name)
